import { html, useState, useEffect } from '../vendor/htm-preact.js';
import { get, post, all } from '../api.js';
import { useStore, useData, act, poke, say } from '../store.js';
import { Amount, Bones, Shown, Status, Empty, Dot, tone } from '../ui.js';
import { money, day, date, seconds, time, month, words, label, span, last } from '../format.js';

// The month of a run, or the days that it pays if they are not the whole month.
const named = (r) => (r.pay_period ? `${day(r.pay_period.start)} – ${date(r.pay_period.end)}` : month(r.period));
const WAY = ['calculating', 'calculated', 'approved', 'funding', 'processing', 'paid'];
const DOING = { calculating: 'Started', calculated: 'Calculated', approved: 'Approved', funding: 'Funding', processing: 'At the bank', paid: 'Paid' };

const RUNS = 14, PEOPLE = 500; // shown at first
// What counts as failed: the API filters by one status at a time.
const FAILED = ['failed', 'returned', 'blocked'];

export function Payroll({ open, id }) {
  const { rev, at } = useStore();
  const [company, pick] = useState(''), [most, more] = useState(RUNS);
  const got = useData(async (signal) => {
    const [runs, companies] = await Promise.all([all('/api/business/payroll-runs', { sort: '-created_at', company_id: company || undefined }, most, { signal }), get('/api/business/companies', { per_page: 100 }, { signal })]);
    return { runs: runs.rows, total: runs.total, companies: companies.data };
  }, [rev, company, most]);
  const names = Object.fromEntries((got.data?.companies || []).map((c) => [c.id, c]));
  // A run of an address may be older than the list.
  const isId = /^prn_[a-z0-9]+$/.test(id);
  const one = useData(async () => (isId ? (await get(`/api/business/payroll-runs/${id}`)).data : null), [rev, id]);
  const missing = id && (!isId || one.error?.status === 404);
  const run = missing ? null : id ? one.data?.id === id ? one.data : got.data?.runs.find((r) => r.id === id) : got.data?.runs[0];
  return html`<div class="page"><div class="head"><div><h1>Payroll</h1><p class="muted">Runs, people, payouts and payslips</p></div>${!at && html`<${Start} companies=${got.data?.companies} />`}</div>
    <${Shown} of=${got} rows=${6} empty=${{ when: (d) => !d.runs.length, title: 'No payroll runs yet', text: 'Choose a company and a month above, and run payroll.' }}>${(d) => html`<div class="pay">
      <nav class="panel list" aria-label="Payroll runs"><header><h2>Runs</h2><select class="field" aria-label="Company" value=${company} onChange=${(e) => { pick(e.target.value); more(RUNS); }}><option value="">All companies</option>${d.companies.map((c) => html`<option value=${c.id}>${c.legal_name}</option>`)}</select></header>
        <ul>${d.runs.map((r) => html`<li key=${r.id}><button aria-current=${String(r.id === run?.id)} onClick=${() => { location.hash = `#/payroll/${r.id}`; }}><b class="cut">${named(r)}</b><${Status} value=${r.status} />
          <span class="small muted cut">${names[r.company_id]?.legal_name || ''}</span><span class="small muted right">${r.totals ? money(r.totals.net, r.currency) : '–'}</span></button></li>`)}</ul>
        ${d.total > d.runs.length && html`<div class="row small muted pad">${d.runs.length} of ${d.total} <button class="btn" onClick=${() => more(d.runs.length < 100 ? 100 : d.runs.length + 100)}>Show more</button></div>`}</nav>
      ${missing ? html`<section class="panel"><${Empty} title="No such run">There is no run <span class="mono">${id}</span> in this world${at ? ' at that moment' : ''}. Choose one from the list.<//></section>` : run ? html`<${Run} run=${run} company=${names[run.company_id]} open=${open} key=${run.id} />` : html`<section class="panel"><${Bones} rows=${6} /></section>`}</div>`}<//></div>`;
}

function Start({ companies }) {
  const { clock } = useStore();
  const [busy, set] = useState(false);
  if (!companies?.length) return null;
  const go = async (e) => {
    e.preventDefault(); const f = new FormData(e.target); set(true);
    try { const { data } = await post('/v1/payroll/run', { company_id: f.get('company'), period: f.get('period') }); location.hash = `#/payroll/${data.id}`; await poke(); } catch (error) { say(error.message, 6000); }
    set(false);
  };
  return html`<form class="row wrap" onSubmit=${go}><select class="field" name="company" aria-label="Company to pay">${companies.map((c) => html`<option value=${c.id}>${c.legal_name}</option>`)}</select>
    <input class="field" name="period" size="7" aria-label="Month" defaultValue=${clock?.now.slice(0, 7)} value=${clock?.now.slice(0, 7)} pattern="\\d{4}-\\d{2}" /><button class="btn main-act" disabled=${busy}>Run payroll</button></form>`;
}

// What a person may do with a run in its state.
const STEPS = { draft: [['Calculate', 'calculate'], ['Cancel', 'cancel']], calculated: [['Approve', 'approve'], ['Cancel', 'cancel']], pending_approval: [['Approve', 'approve'], ['Cancel', 'cancel']], funding_failed: [['Retry the funding again', 'retry-funding'], ['Cancel', 'cancel']] };
function Run({ run, company, open }) {
  const { rev, clock, at } = useStore();
  const [only, set] = useState('all'), [most, more] = useState(PEOPLE);
  const path = `/api/business/payroll-runs/${run.id}/items`;
  const items = useData(async (signal) => {
    const lists = await Promise.all((only === 'all' ? [undefined] : FAILED).map((status) => all(path, { status }, most, { signal })));
    return { only, rows: lists.flatMap((l) => l.rows), total: lists.reduce((n, l) => n + l.total, 0) };
  }, [rev, run.id, only, most]);
  const failed = useData(async (signal) => (await Promise.all(FAILED.map((status) => get(path, { status, per_page: 1 }, { signal })))).reduce((n, l) => n + l.meta.total, 0), [rev, run.id]);
  const history = run.status_history;
  const done = history.map((h) => h.status), end = history[history.length - 1];
  const closed = ['paid', 'cancelled', 'reversed', 'partially_paid', 'failed'].includes(end?.status);
  const todo = closed ? [] : WAY.slice(Math.max(...done.map((d) => WAY.indexOf(d))) + 1);
  const t = run.totals;
  const task = clock?.next.find((n) => n.subject === run.id);
  const rows = items.data?.rows, shown = items.data?.only === only ? items : { ...items, data: null };
  return html`<div class="stack" style=${{ gap: '16px' }}>
    <section class="panel" aria-label="Payroll run">
      <header><div class="row wrap"><h2>${named(run)}</h2><${Status} value=${end?.status || run.status} /><span class="small muted">${company?.legal_name}</span></div><div class="row wrap">${!at && (STEPS[run.status] || []).map(([name, verb], i) => html`<button class="btn ${i ? '' : 'main-act'}" onClick=${() => act(`${name}: done`, () => post(`/api/business/payroll-runs/${run.id}/${verb}`))}>${name}</button>`)}<span class="small muted nowrap">Pay day ${date(run.pay_date)}</span></div></header>
      <ol class="steps">${history.map((h, i) => { const of = tone(h.status) === 'bad' ? 'bad' : i === history.length - 1 && !closed ? 'wait' : 'ok'; return html`<li class="done"><${Dot} of=${of} /><b>${DOING[h.status] || label(h.status)}</b>${day(h.at)}, ${time(h.at)}${i > 0 && new Date(h.at) - new Date(history[i - 1].at) > 60000 ? html` <span class="nowrap">(+${span(new Date(h.at) - new Date(history[i - 1].at))})</span>` : ''}</li>`; })}
        ${todo.map((s, i) => html`<li class="todo"><${Dot} of="idle" /><b>${DOING[s]}</b>${i === 0 && task ? `due in ${span(new Date(task.at) - new Date(clock.now))}` : s === 'processing' ? day(run.pay_date) : 'to come'}</li>`)}</ol>
      ${t ? html`<dl class="sums" style=${{ borderTop: '1px solid var(--line)' }}>${[['Gross', t.gross], ['Taxes', t.taxes], ['Contributions', t.employee_contributions], ['Net pay', t.net], ['Cost to employer', t.employer_cost]].map(([n, v]) => html`<div><dt>${n}</dt><dd><${Amount} value=${v} currency=${run.currency} /></dd></div>`)}</dl>` : html`<${Empty} title="Not calculated yet">Amounts appear when the run is calculated.<//>`}
    </section>
    ${run.blockers?.length > 0 && html`<div class="note" role="alert">${run.blockers.map((b) => html`<p><b>${words(b.code || 'blocked')}</b> ${b.detail || ''}</p>`)}</div>`}
    <section class="panel" aria-label="People of the run"><header><h2>People <span class="muted">${run.employee_count}</span></h2>
      <div class="row"><span class="small muted hide-s">${run.settlement.paid} paid${run.settlement.failed ? `, ${run.settlement.failed} failed` : ''}${run.settlement.pending ? `, ${run.settlement.pending} pending` : ''}</span>
      <select class="field" aria-label="Which people" value=${only} onChange=${(e) => { set(e.target.value); more(PEOPLE); }}><option value="all">Everyone</option><option value="bad">Failed${failed.data == null ? '' : ` (${failed.data})`}</option></select></div></header>
      <${Shown} of=${shown} rows=${8} empty=${{ when: (d) => !d.rows.length, title: only === 'all' ? 'No items yet' : 'No payment failed', text: only === 'all' ? 'The run is still being calculated.' : 'No item of this run failed, was returned or is blocked.' }}>${(d) => html`${d.total > rows.length && html`<div class="row small muted pad" role="status">The first ${rows.length} of ${d.total} people <button class="btn" onClick=${() => more(most + PEOPLE)}>Show ${Math.min(PEOPLE, d.total - rows.length)} more</button></div>`}<div class="scroll" tabindex="0" role="region" aria-label="Table of people"><table>
        <thead><tr><th>Person</th><th>Payout</th><th class="num hide-s">Gross</th><th class="num hide-s">Taxes</th><th class="num hide-s">Contributions</th><th class="num">Net pay</th></tr></thead>
        <tbody>${rows.map((i) => html`<tr class="hit" key=${i.id} onClick=${() => open({ kind: 'payslip', item: i, run })}>
          <td class="nowrap"><button class="link" onClick=${(e) => { e.stopPropagation(); open({ kind: 'payslip', item: i, run }); }}>${i.employee_name}</button></td>
          <td><${Status} value=${i.status} />${i.failure && html` <span class="small bad nowrap">${words(i.failure.reason || i.failure.code || '')} <span class="mono">${i.failure.return_code || ''}</span></span>`}</td>
          <td class="num hide-s"><${Amount} value=${i.gross} currency=${i.currency} /></td><td class="num hide-s"><${Amount} value=${i.taxes} currency=${i.currency} /></td><td class="num hide-s"><${Amount} value=${i.employee_contributions} currency=${i.currency} /></td><td class="num"><b><${Amount} value=${i.net} currency=${i.currency} /></b></td></tr>`)}</tbody></table></div>`}<//></section></div>`;
}
