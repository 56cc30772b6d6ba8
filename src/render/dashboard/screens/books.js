import { html, useState } from '../vendor/htm-preact.js';
import { get, post } from '../api.js';
import { useStore, useData, act } from '../store.js';
import { Amount, Bars, Dot, Empty, Shown, Status } from '../ui.js';
import { money, short, date, day, month, label, words, last } from '../format.js';

export function Books({ open, id }) {
  const { clock, rev, at } = useStore();
  const today = (at?.timestamp || clock.now).slice(0, 10);
  const [span, setSpan] = useState(6);
  const list = useData(() => get('/api/business/companies', { per_page: 100 }), []);
  const company = list.data?.data.find((c) => c.id === id) || list.data?.data[0];
  return html`<div class="page"><div class="head"><div><h1>Books</h1><p class="muted">Results, position, entries, and what the bank says · as of ${date(today)}</p></div>
      <div class="row wrap"><select class="field" aria-label="Company" value=${company?.id || ''} onChange=${(e) => { location.hash = `#/books/${e.target.value}`; }}>${list.data?.data.map((c) => html`<option value=${c.id}>${c.legal_name}</option>`)}</select>
        <select class="field" aria-label="Months" value=${span} onChange=${(e) => setSpan(+e.target.value)}>${[3, 6, 12].map((n) => html`<option value=${n}>${n} months</option>`)}</select></div></div>
    <${Check} rev=${rev} />
    <${Shown} of=${list} rows=${6} empty=${{ when: (d) => !d.data.length, title: 'No companies', text: 'This world has no companies.' }}>${() => html`
      <${Results} company=${company} today=${today} span=${span} rev=${rev} key=${`r${company.id}`} />
      <div class="two"><${Accounts} company=${company} today=${today} rev=${rev} open=${open} key=${`a${company.id}`} /><${Sheet} company=${company} today=${today} rev=${rev} key=${`s${company.id}`} /></div>
      <${Reconciliation} company=${company} rev=${rev} key=${`m${company.id}`} />`}<//></div>`;
}

function Check({ rev }) {
  const got = useData(() => get('/_sandbox/ledger/check'), [rev]);
  if (got.data == null) return html`<div class="note row"><${Dot} of=${got.error ? 'bad' : 'wait'} />${got.error ? `The books were not checked: ${got.error.message}` : 'Checking the books…'}</div>`;
  const { ok, entries, findings } = got.data;
  return html`<div class="note ${ok ? '' : 'bad'}" role="status"><div class="row wrap"><${Dot} of=${ok ? 'ok' : 'bad'} /><b class=${ok ? 'ok' : 'bad'}>${ok ? 'The books are consistent' : 'The books are wrong'}</b><span>${entries.toLocaleString('en')} entries balance in every currency, and totals equal their sums.</span></div>${findings.slice(0, 5).map((f) => html`<p class="mono small">${typeof f === 'string' ? f : JSON.stringify(f)}</p>`)}</div>`;
}

function Results({ company, today, span, rev }) {
  const got = useData(() => get('/_sandbox/series', { company_id: company.id, months: span }).then((r) => r.months.map((m) => ({ period: m.month, ...m }))), [company.id, today, span, rev]);
  return html`<section class="panel" aria-label="Profit and loss"><header><h2>Profit and loss</h2><div class="row small muted wrap"><span class="row"><i class="swatch c1"></i>Revenue</span><span class="row"><i class="swatch c2"></i>Expenses</span><span class="row"><i class="swatch line"></i>Profit</span></div></header>
    <${Shown} of=${got} rows=${5} empty=${{ when: (d) => d.every((m) => !m.total_revenue && !m.total_expenses), title: 'No results in these months', text: 'Sales, purchases and payroll appear here when they are posted.' }}>${(rows) => html`
      <${Bars} rows=${rows.map((m) => ({ name: month(m.period).slice(0, 3), full: month(m.period), a: m.total_revenue, b: m.total_expenses, line: m.net_profit }))} format=${(v) => short(v, company.currency)} name=${`Revenue, expenses and profit of ${company.legal_name} over ${rows.length} months`} />
      <div class="scroll" tabindex="0" role="region" aria-label="Profit and loss by month"><table class="tight"><thead><tr><th>Account</th>${rows.map((m) => html`<th class="num">${month(m.period).replace(/(\w{3})\w* (\d+)/, '$1 $2')}</th>`)}</tr></thead><tbody>
        ${lines(rows, 'revenue').map((l) => html`<tr><td>${label(l.account)}</td>${l.amounts.map((v) => html`<td class="num">${v ? html`<${Amount} value=${v} currency=${company.currency} />` : html`<span class="muted">–</span>`}</td>`)}</tr>`)}
        <tr class="total"><td>Revenue</td>${rows.map((m) => html`<td class="num"><b><${Amount} value=${m.total_revenue} currency=${company.currency} /></b></td>`)}</tr>
        ${lines(rows, 'expenses').map((l) => html`<tr><td>${label(l.account)}</td>${l.amounts.map((v) => html`<td class="num">${v ? html`<${Amount} value=${v} currency=${company.currency} />` : html`<span class="muted">–</span>`}</td>`)}</tr>`)}
        <tr class="total"><td>Expenses</td>${rows.map((m) => html`<td class="num"><b><${Amount} value=${m.total_expenses} currency=${company.currency} /></b></td>`)}</tr>
        <tr class="total"><td>Net profit</td>${rows.map((m) => html`<td class="num"><b class=${m.net_profit < 0 ? 'bad' : ''}><${Amount} value=${m.net_profit} currency=${company.currency} /></b></td>`)}</tr></tbody></table></div>`}<//></section>`;
}
function lines(rows, part) {
  const names = [...new Set(rows.flatMap((m) => m[part].map((l) => l.account)))];
  return names.map((account) => ({ account, amounts: rows.map((m) => m[part].find((l) => l.account === account)?.amount ?? 0) }));
}

function Sheet({ company, today, rev }) {
  const got = useData(() => get('/api/business/reports/balance-sheet', { company_id: company.id, as_of: today }).then((r) => r.data), [company.id, today, rev]);
  const rows = (list) => list.map((l) => html`<dt>${label(l.account.replace(':', ' '))}</dt><dd><${Amount} value=${l.amount} currency=${company.currency} /></dd>`);
  const sum = (name, value) => html`<dt class="sum">${name}</dt><dd class="sum"><${Amount} value=${value} currency=${company.currency} /></dd>`;
  return html`<section class="panel" aria-label="Balance sheet"><header><h2>Balance sheet</h2><span class="small muted">${day(today)}</span></header>
    <${Shown} of=${got} rows=${6}>${(b) => { const right = b.total_liabilities + b.total_equity, equal = right === b.total_assets; return html`<div class="pad stack gap">
      <div class="stack"><h3>Assets</h3><dl class="pairs">${rows(b.assets)}${sum('Total assets', b.total_assets)}</dl></div>
      <div class="stack"><h3>Liabilities</h3><dl class="pairs">${rows(b.liabilities)}${sum('Total liabilities', b.total_liabilities)}</dl></div>
      <div class="stack"><h3>Equity</h3><dl class="pairs">${rows(b.equity)}${b.current_earnings ? html`<dt>Current earnings</dt><dd><${Amount} value=${b.current_earnings} currency=${company.currency} /></dd>` : ''}${b.translation_difference ? html`<dt>Translation difference</dt><dd><${Amount} value=${b.translation_difference} currency=${company.currency} /></dd>` : ''}${sum('Total equity', b.total_equity)}</dl></div>
      <div class="row small ${equal ? 'ok' : 'bad'}"><${Dot} of=${equal ? 'ok' : 'bad'} />${equal ? 'Assets equal liabilities and equity.' : `Assets differ by ${money(b.total_assets - right, company.currency)}.`}</div></div>`; }}<//></section>`;
}

const TYPES = ['asset', 'liability', 'equity', 'revenue', 'expense'];
function Accounts({ company, today, rev, open }) {
  const [code, pick] = useState(null);
  const got = useData(async () => (await get('/api/business/ledger-accounts', { company_id: company.id, as_of: today, per_page: 100 })).data, [company.id, today, rev]);
  return html`<div class="stack gap"><section class="panel" aria-label="Accounts"><header><h2>Accounts</h2><span class="small muted">choose one for its entries</span></header>
    <${Shown} of=${got} rows=${8} empty=${{ when: (d) => !d.some((a) => a.debits || a.credits), title: 'No entries yet', text: 'Accounts appear with their first entry.' }}>${(rows) => html`<div class="scroll tall" tabindex="0" role="region" aria-label="Table of accounts"><table class="tight"><thead><tr><th>Account</th><th class="hide-s">Type</th><th class="num hide-s">Debits</th><th class="num hide-s">Credits</th><th class="num">Balance</th></tr></thead><tbody>
      ${[...rows].filter((a) => a.debits || a.credits).sort((a, b) => TYPES.indexOf(a.type) - TYPES.indexOf(b.type)).map((a) => html`<tr class="hit" key=${a.id} aria-selected=${String(code === a.code)} onClick=${() => pick(a.code)}><td><button class="link">${a.name}</button></td><td class="hide-s muted small">${label(a.type)}</td><td class="num hide-s"><${Amount} value=${a.debits} currency=${a.currency} /></td><td class="num hide-s"><${Amount} value=${a.credits} currency=${a.currency} /></td><td class="num"><button class="link" title=${`Explain the balance of ${a.name}`} onClick=${(x) => { x.stopPropagation(); open({ kind: 'balance', key: a.id, account: a }); }}><b><${Amount} value=${a.balance} currency=${a.currency} /></b></button></td></tr>`)}</tbody></table></div>`}<//></section>
    ${code && html`<${Entries} company=${company} code=${code} today=${today} rev=${rev} open=${open} close=${() => pick(null)} key=${code} />`}</div>`;
}
function Entries({ company, code, today, rev, open, close }) {
  const got = useData(() => get('/api/business/journal-entries', { company_id: company.id, account: code, to: today, sort: '-effective_on', per_page: 50 }).catch(() => get('/api/business/journal-entries', { company_id: company.id, account: code, to: today, per_page: 50 })), [company.id, code, today, rev]);
  const chain = (e) => open({ kind: 'chain', key: e.id, company, entry: e });
  return html`<section class="panel" aria-label="Entries"><header><h2>Entries of <span class="mono">${code}</span> <span class="muted">${got.data?.meta.total ?? ''}</span></h2><button class="btn bare" onClick=${close}>Close</button></header>
    <${Shown} of=${got} rows=${5} empty=${{ when: (d) => !d.data.length, title: 'No entries', text: 'Nothing was posted to this account up to this day.' }}>${(d) => html`<div class="scroll tall" tabindex="0" role="region" aria-label="Table of entries"><table class="tight"><thead><tr><th>Day</th><th>Entry</th><th class="num">Debit</th><th class="num">Credit</th></tr></thead><tbody>${d.data.map((e) => {
      const own = e.lines.filter((l) => l.account === code), of = (side) => own.filter((l) => l.direction === side).reduce((n, l) => n + l.amount, 0);
      return html`<tr class="hit" key=${e.id} onClick=${() => chain(e)}><td class="nowrap muted small">${day(e.effective_on)}</td><td><button class="link" onClick=${(x) => { x.stopPropagation(); chain(e); }}>${e.memo}</button> <span class="mono muted small hide-s">${e.source ? `${words(e.source.type)} ${last(e.source.id)}` : ''}</span></td><td class="num">${of('debit') ? html`<${Amount} value=${of('debit')} currency=${own[0].currency} />` : ''}</td><td class="num">${of('credit') ? html`<${Amount} value=${of('credit')} currency=${own[0].currency} />` : ''}</td></tr>`; })}</tbody></table></div>`}<//></section>`;
}

function Reconciliation({ company, rev }) {
  const [status, filter] = useState('');
  const got = useData(() => get('/api/payments/reconciliation-matches', { company_id: company.id, status: status || undefined, per_page: 100 }), [company.id, status, rev]);
  const resolve = async (m, action) => { if (await act(`${label(action)}ed`.replace('eed', 'ed').replace('reed', 'red'), () => post(`/api/payments/reconciliation-matches/${m.id}/resolve`, { action }))) got.reload(); };
  return html`<section class="panel" aria-label="Reconciliation"><header><h2>Reconciliation <span class="muted">${got.data?.meta.total ?? ''}</span></h2><select class="field" aria-label="State of rows" value=${status} onChange=${(e) => filter(e.target.value)}><option value="">All states</option>${['suggested', 'exception', 'unmatched', 'matched', 'ignored'].map((s) => html`<option value=${s}>${label(s)}</option>`)}</select></header>
    <${Shown} of=${got} rows=${4} empty=${{ when: (d) => !d.data.length, title: status ? 'None in this state' : 'No bank statement yet', text: status ? 'Choose another state.' : 'Import one with POST /api/payments/bank-statements, or trigger bank_statement.imported on the Control screen.' }}>${(d) => html`<div class="scroll tall" tabindex="0" role="region" aria-label="Table of statement lines"><table><thead><tr><th>Day</th><th>Line</th><th class="num">Amount</th><th>State</th><th class="hide-s">Why</th><th></th></tr></thead><tbody>${d.data.map((m) => html`<tr key=${m.id}><td class="nowrap muted small">${day(m.date)}</td><td>${m.line?.description || (m.side === 'bank' ? 'Line without a text' : 'Only in the books')} <span class="mono muted small">${m.line?.reference ? last(m.line.reference, 10) : ''}</span></td>
      <td class="num"><${Amount} value=${m.direction === 'debit' ? -m.amount : m.amount} currency=${m.currency} /></td><td><${Status} value=${m.status} />${m.confidence ? html` <span class="small muted">${m.confidence} %</span>` : ''}</td><td class="hide-s small muted">${(m.exception ? [m.exception] : m.reasons).map(words).join(', ')}</td>
      <td class="num"><span class="row end">${m.status === 'suggested' && html`<button class="btn" onClick=${() => resolve(m, 'confirm')}>Match</button><button class="btn bare" onClick=${() => resolve(m, 'reject')}>Reject</button>`}${['unmatched', 'exception'].includes(m.status) && html`<button class="btn bare" onClick=${() => resolve(m, 'ignore')}>Ignore</button>`}</span></td></tr>`)}</tbody></table></div>`}<//></section>`;
}
