import { html, useState, useMemo } from '../vendor/htm-preact.js';
import { get, Problem } from '../api.js';
import { useStore, useData, useEach } from '../store.js';
import { Amount, Bar, Dot, Shown, Spark, Status, Empty, tone } from '../ui.js';
import { task } from '../clock.js';
import { money, day, date, seconds, time, words, label, span, last } from '../format.js';

// Where the money of a company is.
async function balances({ id: company, currency }, signal) {
  const { data } = await get('/api/business/ledger-accounts', { company_id: company, currency, per_page: 100 }, { signal });
  const of = (f) => data.filter(f).reduce((n, a) => n + a.balance, 0), is = (...codes) => of((a) => codes.includes(a.code));
  return { available: is('cash_available'), reserved: is('cash_reserved', 'escrow_held'), transit: is('payouts_in_transit'),
    receive: is('accounts_receivable', 'collections_in_transit'), owed: of((a) => a.type === 'liability') };
}
const trend = async (c, signal) => (await get('/_sandbox/series', { company_id: c.id, months: 13 }, { signal })).months.map((m) => m.cash);
const people = async (c, signal) => (await get('/api/business/employees', { company_id: c.id, per_page: 1 }, { signal })).meta.total;
// The next pay day: of an open run or the company's pay schedule, else its day of the month.
async function nextPay(c, today, signal) {
  const rows = (path, q) => get(path, { company_id: c.id, ...q }, { signal }).then((r) => r.data, () => []);
  const [runs, schedules] = await Promise.all([rows('/api/business/payroll-runs', { sort: '-created_at', per_page: 10 }), rows('/api/business/pay-schedules', { status: 'active', per_page: 10 })]);
  const open = runs.filter((r) => !['paid', 'cancelled', 'reversed'].includes(r.status)).map((r) => r.pay_date);
  const due = await Promise.all(schedules.map((s) => get(`/api/business/pay-schedules/${s.id}/periods`, { from: today, limit: 3 }, { signal }).then((r) => r.data.periods.map((p) => p.pay_date), () => [])));
  const [on] = [...open, ...due.flat()].filter((d) => d >= today).sort();
  return on || payDay(c, today);
}
const WEEKEND = { EG: [5, 6] }; // of other countries: Saturday and Sunday
export function payDay(c, today) {
  const [year, month] = today.split('-').map(Number), most = c.payroll_settings?.pay_day || 25, off = WEEKEND[c.country] || [0, 6];
  for (let m = month - 1; ; m++) {
    const d = new Date(Date.UTC(year, m, Math.min(most, new Date(Date.UTC(year, m + 1, 0)).getUTCDate())));
    while (off.includes(d.getUTCDay())) d.setUTCDate(d.getUTCDate() - 1);
    const on = d.toISOString().slice(0, 10);
    if (on >= today) return on;
  }
}
// The payouts that came back. To count them, the server reads all payouts of the company, so a very large company is left out.
const MOST_COUNTED = 20_000;
async function returned(c, signal) {
  const total = async (status) => (await get('/api/payments/payouts', { company_id: c.id, status, per_page: 1 }, { signal })).meta.total;
  if (await total() > MOST_COUNTED) throw new Problem(422, { detail: `The company has more than ${MOST_COUNTED.toLocaleString('en')} payouts.` });
  return (await total('returned')) + (await total('failed'));
}

const SHOWN = 12; // cards; each costs eight reads
export function Overview({ open }) {
  const { clock, info, rev, at, events } = useStore();
  const [most, more] = useState(SHOWN);
  const now = at?.timestamp || clock.now, today = now.slice(0, 10);
  const got = useData((signal) => get('/api/business/companies', { per_page: most }, { signal }), [rev, most]);
  const list = got.data?.data || [], total = got.data?.meta.total;
  const back = useMemo(() => events.findLast((e) => e.type === 'payout.returned' || e.type === 'payout.failed')?.sequence || 0, [events]);
  const of = { bal: useEach(list, balances, [rev]), people: useEach(list, people, [rev]), trend: useEach(list, trend, [rev]), pay: useEach(list, (c, signal) => nextPay(c, today, signal), [rev, today]), returned: useEach(list, returned, [back], 1) };
  const todo = useData((signal) => get('/api/business/compliance-requirements', { status: 'open', per_page: 100 }, { signal }), [rev]);
  const cards = list.map((c) => ({ ...c, bal: of.bal[c.id], people: of.people[c.id], trend: of.trend[c.id], pay: of.pay[c.id], returned: of.returned[c.id], todo: (todo.data?.data || []).filter((r) => r.company_id === c.id).length }));
  return html`<div class="page">
    <div class="head"><div><h1>Overview</h1><p class="muted">${got.data ? `${total} ${total === 1 ? 'company' : 'companies'}` : '\u00a0'}${info ? ` \u00b7 seed ${info.world?.seed ?? info.seed}` : ''} \u00b7 ${events.length ? `${events[events.length - 1].sequence} events` : 'no events yet'}</p></div>
      <a class="btn main-act" href="#/payroll">Run payroll</a></div>
    <${Shown} of=${got} rows=${6} empty=${{ when: (d) => !d.data.length, title: 'No companies', text: 'This world has no companies.' }}>${() => html`
      <div class="cards">${cards.map((c) => html`<${Card} c=${c} today=${today} key=${c.id} />`)}</div>
      ${total > list.length && html`<div class="row small muted">${list.length} of ${total} companies <button class="btn" onClick=${() => more(Math.min(most + SHOWN, 100))}>Show more</button></div>`}`}<//>
    <div class="two"><div class="stack gap">${cards.length > 0 && html`<${Flow} list=${cards} />`}<${Due} /></div><${Feed} open=${open} list=${list} /></div></div>`;
}

const NONE = html`<span class="muted">–</span>`;
// A part of a card: a dash until it is read, and the reason if it was refused.
const part = (value, show) => (value === undefined ? NONE : value?.error ? html`<span class="muted small" title=${value.error.message}>not read</span>` : show(value));
const Alerts = ({ c }) => {
  const n = c.returned, left = n?.error && html`<p class="muted small" title=${n.error.message}>payouts not counted</p>`;
  if (n > 0) return html`<span class="bad">${n} ${n === 1 ? 'payout' : 'payouts'} came back</span>`;
  return c.todo ? html`<span class="wait">${c.todo} to resolve</span>${left}` : left || (n === 0 ? html`<span class="muted">None</span>` : NONE);
};
const Card = ({ c, today }) => {
  const b = c.bal?.error ? null : c.bal, cash = b && b.available + b.reserved, months = c.trend?.error ? null : c.trend, first = months?.[0];
  const change = first && b ? ((cash - first) / first) * 100 : 0;
  return html`<article class="panel card" aria-label=${c.legal_name}>
    <div class="row"><div class="grow"><h2 class="cut">${c.legal_name}</h2><p class="small muted">${label(c.industry)}</p></div><span class="cc">${c.country}</span></div>
    <div><p class="small muted">Cash</p>${part(c.bal, () => html`<${Amount} value=${cash} currency=${c.currency} big=${true} />`)}
      <p class="small muted">${b?.reserved ? html`${money(b.reserved, c.currency)} reserved \u00b7 ` : ''}${months && b ? `${change >= 0 ? '+' : '\u2212'}${Math.abs(change).toFixed(1)}\u00a0% in 12 months` : '\u00a0'}</p></div>
    <${Spark} values=${months} name="Cash over twelve months" />
    <dl class="facts"><div><dt>Next pay day</dt><dd>${part(c.pay, (on) => html`${day(on)} <span class="muted small">${on === today ? 'today' : span(new Date(on) - new Date(today))}</span>`)}</dd></div>
      <div><dt>People</dt><dd>${part(c.people, (n) => n)}</dd></div>
      <div><dt>Alerts</dt><dd><${Alerts} c=${c} /></dd></div></dl></article>`;
};

const STAGES = [['receive', 'To receive', 'var(--c3)'], ['available', 'Available', 'var(--c1)'], ['reserved', 'Reserved', 'var(--c4)'], ['transit', 'In transit', 'var(--c2)'], ['owed', 'Owed', 'var(--c4)']];
const Flow = ({ list }) => html`<section class="panel" aria-label="Money flow"><header><h2>Money flow</h2><span class="small muted">where the money of each company is</span></header>
  <div class="flow"><div class="r h"><span></span>${STAGES.map(([k, n], i) => html`<span>${n}</span>`)}</div>
  ${list.map((c) => { const bal = c.bal || {}, most = Math.max(1, ...STAGES.map(([k]) => bal[k] || 0)); return html`<div class="r"><div class="grow"><p class="cut"><b class="soft">${c.legal_name.split(' ').slice(0, 2).join(' ')}</b></p><p class="small muted">${c.currency}</p></div>
    ${STAGES.map(([k, n, color]) => html`<div class="v" data-name=${n}>${bal[k] ? html`<b class="small" title=${money(bal[k], c.currency)}>${money(bal[k], c.currency).replace(/\.\d+$/, '')}</b>` : html`<span class="muted small">–</span>`}<i><${Bar} part=${bal[k]} whole=${most} color=${color} /></i></div>`)}</div>`; })}</div></section>`;

// What the clock will do, same task at the same instant as one line.
function Due() {
  const { clock } = useStore();
  const lines = new Map();
  for (const n of clock.next) { const k = `${n.at}|${n.task}`; lines.has(k) ? lines.get(k).n++ : lines.set(k, { ...n, n: 1 }); }
  const rows = [...lines.values()].sort((a, b) => (a.at < b.at ? -1 : 1)).slice(0, 6);
  return html`<section class="panel" aria-label="Due next"><header><h2>Due next</h2><span class="small muted">${clock.pending} waiting</span></header>
    ${rows.length ? html`<table><tbody>${rows.map((r) => html`<tr><td class="nowrap muted small" width="110">${day(r.at)}, ${time(r.at)}</td><td><b class="soft">${task(r.task)}</b>${r.n > 1 ? html` <span class="many">×${r.n}</span>` : html` <span class="mono muted small">${last(r.subject)}</span>`}</td><td class="num muted small">${new Date(r.at) > new Date(clock.now) ? `in ${span(new Date(r.at) - new Date(clock.now))}` : 'now'}</td></tr>`)}</tbody></table>` : html`<${Empty} title="Nothing waits">Run payroll or make a payout; what has to happen later is listed here.<//>`}</section>`;
}

// Events that happened at the same instant and are of the same type become one line.
export function grouped(events) {
  const lines = new Map();
  for (const e of [...events].reverse()) {
    const slot = `${e.timestamp}|${e.type}|${e.company_id}`;
    if (lines.has(slot)) lines.get(slot).of.push(e);
    else lines.set(slot, { type: e.type, at: e.timestamp, of: [e] });
  }
  return [...lines.values()];
}
export const verb = (type) => type.slice(type.indexOf('.') + 1);
export const noun = (type) => label(type.slice(0, type.indexOf('.')));
// What an event is about, always as text: a name can be an object of its parts.
const named = (n) => (typeof n === 'string' ? n : n && typeof n === 'object' ? Object.values(n).filter((part) => typeof part === 'string').join(' ') : '');
export function subject(e) {
  const o = e.data?.object || {};
  if (o.employee_name) return o.net != null ? `${o.employee_name} \u00b7 ${money(o.net, o.currency)}` : o.employee_name;
  if (o.recipient) return `${named(o.recipient.name)} \u00b7 ${money(o.amount, o.currency)}`;
  if (o.object === 'payroll_run') return `${o.period} \u00b7 ${o.employee_count} people${o.totals ? ` \u00b7 ${money(o.totals.net, o.currency)}` : ''}`;
  if (o.amount != null && o.currency) return `${o.authority ? `${o.authority} \u00b7 ` : ''}${money(o.amount, o.currency)}`;
  if (o.available != null && o.currency) return `${money(o.available, o.currency)} available`;
  return named(o.name) || named(o.legal_name) || last(o.id || '');
}
function Feed({ open, list }) {
  const { events, at } = useStore();
  const [kind, set] = useState('');
  const kinds = useMemo(() => [...new Set(events.map((e) => e.type.split('.')[0]))].sort(), [events]);
  const older = useData(async () => (at && events.length && at.sequence < events[0].sequence + 50 ? (await get('/_sandbox/events', { after: Math.max(0, at.sequence - 100), per_page: 100 })).data : null), []);
  const rows = grouped((older.data || events).filter((e) => (!at || e.sequence <= at.sequence) && (!kind || e.type.startsWith(`${kind}.`)))).slice(0, 120);
  let lastDay = '';
  const short = Object.fromEntries(list.map((c) => [c.id, c.country]));
  return html`<section class="panel" aria-label="Events"><header><h2>Events</h2><select class="field" aria-label="Kind of event" value=${kind} onChange=${(e) => set(e.target.value)}><option value="">All kinds</option>${kinds.map((k) => html`<option value=${k}>${label(k)}</option>`)}</select></header>
    ${rows.length === 0 ? html`<${Empty} title="No events yet">Run payroll, make a payout or move the clock. Events appear here as they happen.<//>` : html`<div class="feedbox" tabindex="0" role="region" aria-label="Latest events"><ul class="feed">${rows.map((g) => {
      const d = date(g.at), head = d !== lastDay ? html`<li class="dayline">${d}</li>` : null; lastDay = d; const e = g.of[0];
      return [head, html`<li class="new" key=${e.id}><button onClick=${() => open({ kind: 'event', event: e, more: g.of })}><span class="muted small">${seconds(g.at)}</span><${Dot} of=${tone(verb(g.type))} />
        <span class="cut"><span class="what">${noun(g.type)}</span> <span class="muted">${words(verb(g.type))}</span> <span class="muted small">${g.of.length > 1 ? '' : subject(e)}</span></span><span class="row">${g.of.length > 1 && html`<span class="many">×${g.of.length}</span>`}<span class="cc">${short[e.company_id] || '–'}</span></span></button></li>`];
    })}</ul></div>`}</section>`;
}
