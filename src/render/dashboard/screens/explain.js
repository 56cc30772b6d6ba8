// The drawer. A payslip down to its parts, its cause and its entries; an event from request to deliveries.
import { html, useState, useEffect } from '../vendor/htm-preact.js';
import { get, logged, pdf, post } from '../api.js';
import { useData, act } from '../store.js';
import { Amount, Bar, Dot, Drawer, Empty, Failed, Bones, Shown, Status, tone } from '../ui.js';
import { money, date, seconds, words, label, last, month } from '../format.js';
import { noun, verb, subject } from './overview.js';
import { Chain, Loan, Request, Score } from './reasons.js';

const KINDS = { payslip: Payslip, balance: Balance, event: Event, chain: Chain, request: Request, score: Score, loan: Loan };
export const Explain = ({ of, close, open }) => html`<${KINDS[of.kind]} ...${of} close=${close} open=${open} />`;

function Payslip({ item, run, close }) {
  const [tab, setTab] = useState('Parts');
  const slip = useData(async () => {
    if (item.payslip_id) return (await get(`/api/business/payslips/${item.payslip_id}`)).data;
    return null;
  }, [item.id]);
  const s = slip.data;
  return html`<${Drawer} title=${`${item.employee_name}: net pay`} sub=${`${month(item.period)} \u00b7 ${s?.pack ? `tax table ${s.pack.code}, year ${s.pack.tax_year}` : 'not issued yet'}`} close=${close} tabs=${['Parts', 'Why', 'Entries', 'Payslip']} tab=${tab} setTab=${setTab}>
    ${slip.error ? html`<${Failed} error=${slip.error} again=${slip.reload} />` : slip.loading ? html`<${Bones} />` : tab === 'Payslip' ? html`<${Paper} id=${item.payslip_id} />` : tab === 'Why' ? html`<${Why} item=${item} run=${run} />` : tab === 'Entries' ? html`<${Entries} item=${item} />` : html`<${Parts} item=${item} slip=${s} />`}${tab === 'Parts' && ['failed', 'returned'].includes(item.status) ? html`<div class="note row between"><span>The payout ${words(item.status)}${item.failure?.reason ? `: ${words(item.failure.reason)}` : ''}.</span><button class="btn" onClick=${() => act('Tried again', () => post(`/api/business/payroll-runs/${item.payroll_run_id || run.id}/items/${item.id}/retry`)).then((r) => r && close())}>Pay again</button></div>` : ''}<//>`;
}

// An amount down to its parts, as the API explains it: each opens to its base, rate and source, or to its own parts.
export function Amounts({ id, pointer, name, currency }) {
  const got = useData(() => get(`/_sandbox/explain/${id}`, { pointer }), [id, pointer]);
  return html`<${Shown} of=${got} rows=${5}>${(d) => {
    const unit = d.currency || currency, show = (n) => (unit ? html`<${Amount} value=${n} currency=${unit} />` : html`<span class="amount">${n}</span>`);
    const whole = Math.max(1, d.parts.reduce((n, x) => n + Math.max(x.amount, 0), 0)), sum = d.parts.reduce((n, x) => n + x.amount, 0);
    let left = 0;
    return html`<section class="parts" aria-label=${`Parts of ${name}`}>${d.parts.filter((x) => x.amount || x.rule).map((x) => { const from = x.amount < 0 ? (left += x.amount) : (left += x.amount) - x.amount; return html`<${Line} part=${x} id=${id} pointer=${pointer} show=${show} from=${Math.max(0, from)} whole=${whole} currency=${unit} key=${x.pointer || x.label + x.resource_id} />`; })}
      <div class="p sum"><span>${name}</span>${show(d.amount)}<${Bar} part=${d.amount} whole=${whole} /></div></section>
      <div class="row ${sum === d.amount ? 'ok' : 'bad'} small"><${Dot} of=${sum === d.amount ? 'ok' : 'bad'} />${sum === d.amount ? 'The parts sum to the amount.' : 'The parts do not sum to the amount.'}</div>`;
  }}<//>`;
}
const percent = (rate) => (/^-?\d*\.?\d+$/.test(rate) ? `${+(rate * 100).toFixed(4)}\u00a0%` : rate);
function Line({ part: x, id, show, from, whole, currency }) {
  const r = x.rule, note = r?.rate && r.base ? `${percent(r.rate)} of ${words(r.base)}` : x.reason || '';
  const head = html`<span>${x.label} <span class="muted small">${note}</span></span>${show(x.amount)}<${Bar} part=${Math.abs(x.amount)} whole=${whole} start=${from} color=${x.amount < 0 ? 'var(--c2)' : 'var(--c1)'} />`;
  if (!r && !x.resource_id) return html`<div class="p">${head}</div>`;
  return html`<details class="why"><summary class="p">${head}</summary><div class="stack small">
    ${r && html`<dl class="pairs"><dt>Rule</dt><dd class="mono">${r.pack} · ${r.line}</dd>${r.base && html`<dt>Base</dt><dd>${words(r.base)}${r.base_amount != null ? html`: ${money(r.base_amount, currency)}` : ''}</dd>`}${r.rate && html`<dt>Rate</dt><dd>${percent(r.rate)}</dd>`}</dl>
      ${r.steps.map((step) => html`<p class="mono small step">${Object.entries(step).map(([k, v]) => `${k}: ${typeof v === 'object' ? JSON.stringify(v) : v}`).join(' · ')}</p>`)}
      ${r.sources.length > 0 && html`<ul>${r.sources.map((one) => html`<li class="muted">${one.title || one.name || ''} ${one.url ? html`<span class="mono">${one.url}</span>` : ''}</li>`)}</ul>`}`}
    ${x.resource_id && html`<p class="muted">From <span class="mono">${x.resource_id}</span>${x.reason ? `, ${x.reason}` : ''}</p>`}</div></details>`;
}
// A balance of an account, down to its entries.
function Balance({ account: a, close }) {
  return html`<${Drawer} title=${`${a.name}: balance`} sub=${`${label(a.type)} \u00b7 ${a.id}`} close=${close}><${Amounts} id=${a.id} pointer="/balance" name="Balance" currency=${a.currency} /><//>`;
}

function Parts({ item, slip }) {
  const cur = item.currency;
  const [year, open] = useState(null);
  const total = html`<div><p class="small muted">Net pay</p><${Amount} value=${item.net} currency=${cur} big=${true} /></div>`;
  if (!slip) {
    const lines = [['Gross', item.gross], ['Taxes', -item.taxes], ['Contributions', -item.employee_contributions], ['Deductions', -(item.deductions || 0)], ['Reimbursements', item.reimbursements || 0]].filter(([, v]) => v);
    return html`${total}<dl class="pairs">${lines.map(([n, v]) => html`<dt>${n}</dt><dd>${money(v, cur)}</dd>`)}</dl><p class="small muted">The lines appear when the payslip is issued.</p>`;
  }
  return html`${total}<${Amounts} id=${slip.id} pointer="/net" name="Net pay" currency=${cur} />
    <section class="stack"><h3>Base and table</h3><dl class="pairs"><dt>Taxable</dt><dd>${money(slip.taxable, cur)}</dd><dt>Table</dt><dd class="mono">${slip.pack.code}</dd><dt>In force on pay day</dt><dd>${slip.pack.in_force ? 'yes' : 'no'}</dd></dl><details><summary class="small">Taxable amount down to its parts</summary><${Amounts} id=${slip.id} pointer="/taxable" name="Taxable" currency=${cur} /></details></section>
    <section class="stack"><h3>Cost to employer</h3><${Amounts} id=${slip.id} pointer="/employer_cost" name="Cost to employer" currency=${cur} /></section>
    <section class="stack"><h3>Tax year so far</h3><dl class="pairs">${Object.entries(slip.ytd).filter(([, v]) => v).map(([k, v]) => html`<dt><button class="link" aria-expanded=${String(year === k)} onClick=${() => open(year === k ? null : k)}>${label(k)}</button></dt><dd>${money(v, cur)}</dd>`)}</dl>${year && html`<${Amounts} id=${slip.id} pointer=${`/ytd/${year}`} name=${label(year)} currency=${cur} key=${year} />`}</section>`;
}

function Why({ item, run }) {
  const got = useData(async () => {
    const [ofRun, ofItem, ofPay, decisions] = await Promise.all([get('/_sandbox/events', { subject_id: run.id, per_page: 50 }), get('/_sandbox/events', { subject_id: item.id, per_page: 50 }),
      item.payout_id ? get('/_sandbox/events', { subject_id: item.payout_id, per_page: 50 }) : { data: [] }, item.payout_id ? get('/_sandbox/decisions', { subject_id: item.payout_id, per_page: 20 }) : { data: [] }]);
    const seen = new Map([...ofRun.data, ...ofItem.data, ...ofPay.data].map((e) => [e.id, e]));
    const events = [...seen.values()].sort((a, b) => a.sequence - b.sequence);
    const id = events.find((e) => e.request)?.request.id;
    return { events, decisions: decisions.data, id, request: id ? await logged(id).catch(() => null) : null };
  }, [item.id]);
  return html`<${Shown} of=${got} empty=${{ when: (d) => !d.events.length, title: 'No events', text: 'This run is part of the generated history, which has no events.' }}>${(d) => html`
    <ol class="chain">${d.request && html`<li><${Dot} of="info" /><b>${d.request.method} ${d.request.path}</b> <span class="tag idle">${d.request.status}</span><p class="small muted">Request <span class="mono">${last(d.request.request_id)}</span> at ${date(d.request.at)}, ${seconds(d.request.at)}</p></li>`}${d.id && !d.request && html`<${Gone} id=${d.id} />`}
      ${d.events.map((e) => html`<li><${Dot} of=${tone(verb(e.type))} /><b>${noun(e.type)}</b> ${words(verb(e.type))}<p class="small muted">${date(e.timestamp)}, ${seconds(e.timestamp)} · event ${e.sequence}</p></li>`)}</ol>
    ${d.decisions.length > 0 && html`<section class="stack"><h3>Decisions of the outside world</h3>${d.decisions.map((k) => html`<div class="note"><p><b class="mono">${k.decision}</b> <${Status} value=${k.chosen} />${k.code ? html` <span class="mono">${k.code}</span>` : ''}</p><p class="small">Because of: ${words(k.why)}${k.source ? ` (${k.source})` : ''}. Could have been: ${k.choices.filter((c) => c !== k.chosen).map(words).join(', ')}.</p></div>`)}</section>`}`}<//>`;
}

function Entries({ item }) {
  const got = useData(async () => (await Promise.all([item.payroll_run_id, item.id, item.payout_id].filter(Boolean).map((id) => get('/api/business/journal-entries', { company_id: item.company_id, source_id: id, per_page: 20 })))).flatMap((r) => r.data), [item.id]);
  return html`<${Shown} of=${got} empty=${{ when: (d) => !d.length, title: 'No entries', text: 'Nothing was posted for this item yet.' }}>${(d) => html`${d.map((e) => html`<section class="stack"><div class="row between"><h3>${e.memo}</h3><span class="small muted">${date(e.effective_on)} · <span class="mono">${last(e.id)}</span></span></div>
    <div class="panel scroll" tabindex="0" role="region" aria-label=${e.memo}><table class="taccount"><thead><tr><th>Account</th><th class="num">Debit</th><th class="num">Credit</th></tr></thead><tbody>${e.lines.map((l) => html`<tr><td class="mono">${l.account}</td><td class="num">${l.direction === 'debit' ? money(l.amount, l.currency) : ''}</td><td class="num">${l.direction === 'credit' ? money(l.amount, l.currency) : ''}</td></tr>`)}</tbody></table></div></section>`)}`}<//>`;
}

function Paper({ id }) {
  const got = useData(async () => (id ? pdf(`/api/business/payslips/${id}`) : null), [id]);
  useEffect(() => () => got.data && URL.revokeObjectURL(got.data), [got.data]);
  if (!id) return html`<${Empty} title="No payslip yet">It is issued when the payout is paid.<//>`;
  return html`<${Shown} of=${got}>${(url) => html`<div class="row"><a class="btn" href=${url} target="_blank" rel="noopener">Open</a><a class="btn" href=${url} download=${`${id}.pdf`}>Save</a></div><iframe class="frame" src=${`${url}#toolbar=0&view=FitH`} title="Payslip"></iframe>`}<//>`;
}

// A cause that the log does not have: it was cleared, it keeps only the latest requests, or this was a control call.
const Gone = ({ id }) => html`<li><${Dot} of="info" /><b>Request <span class="mono">${id}</span></b><p class="small muted">The request log has no entry of it: it was removed, or it was a control call.</p></li>`;
function Event({ event, more = [event], close, open }) {
  const [tab, setTab] = useState('Chain');
  const [e, pick] = useState(event);
  const got = useData(async () => {
    const [deliveries, decisions, request] = await Promise.all([get('/_sandbox/deliveries', { event_id: e.id, per_page: 20 }), get('/_sandbox/decisions', { subject_id: e.data.object.id, per_page: 20 }),
      e.request ? logged(e.request.id).catch(() => null) : null]);
    return { deliveries: deliveries.data, decisions: decisions.data, request };
  }, [e.id]);
  const again = async () => { if (await act('Sent again', () => post(`/_sandbox/events/${e.id}/resend`))) got.reload(); };
  return html`<${Drawer} title=${`${noun(e.type)} ${words(verb(e.type))}`} sub=${`${date(e.timestamp)}, ${seconds(e.timestamp)} \u00b7 ${e.id}`} close=${close} tabs=${['Chain', 'Resource']} tab=${tab} setTab=${setTab}>
    ${more.length > 1 && html`<label class="row small muted">One of ${more.length} at this instant <select class="field grow" value=${e.id} onChange=${(x) => pick(more.find((m) => m.id === x.target.value))}>${more.map((m) => html`<option value=${m.id}>${subject(m)}</option>`)}</select></label>`}
    ${tab === 'Resource' ? html`<pre tabindex="0">${JSON.stringify(e.data.object, null, 2)}</pre>` : html`<${Shown} of=${got}>${(d) => html`<ol class="chain">
      ${e.request && !d.request ? html`<${Gone} id=${e.request.id} />` : html`<li><${Dot} of="info" />${d.request ? html`<button class="link" onClick=${() => open({ kind: 'request', request: d.request, key: d.request.request_id })}>${d.request.method} ${d.request.path}</button> <span class="tag idle">${d.request.status}</span><p class="small muted">The request that caused it, <span class="mono">${last(e.request.id)}</span></p>` : html`<b>The clock</b><p class="small muted">No request caused it: the clock did.</p>`}</li>`}
      ${d.decisions.map((k) => html`<li><${Dot} of=${tone(k.chosen)} /><b class="mono">${k.decision}</b> <${Status} value=${k.chosen} />${k.code ? html` <span class="mono">${k.code}</span>` : ''}<p class="small muted">Because of: ${words(k.why)}${k.source ? ` (${k.source})` : ''}. Could have been: ${k.choices.filter((c) => c !== k.chosen).map(words).join(', ')}.</p></li>`)}
      <li><${Dot} of=${tone(verb(e.type))} /><b>${e.type}</b><p class="small muted">Event ${e.sequence} · ${subject(e)}</p>${Object.keys(e.data.previous || {}).includes('status') && html`<p class="small">Status <span class="muted">${words(e.data.previous.status)}</span> → <b>${words(e.data.object.status)}</b></p>`}</li>
      ${d.deliveries.length ? d.deliveries.map((w) => html`<li><${Dot} of=${tone(w.status)} /><b>Webhook</b> <${Status} value=${w.status} /><p class="small muted">${w.attempts.length} ${w.attempts.length === 1 ? 'attempt' : 'attempts'}${w.attempts.length ? `, last: ${w.attempts[w.attempts.length - 1].http_status || w.attempts[w.attempts.length - 1].error}` : ''}</p></li>`) : html`<li><${Dot} of="idle" /><span class="muted">No webhook endpoint received it.</span></li>`}</ol>
      ${d.deliveries.length > 0 && html`<div><button class="btn" onClick=${again}>Send again</button></div>`}`}<//>`}<//>`;
}
