import { html, useState, useMemo } from '../vendor/htm-preact.js';
import { get } from '../api.js';
import { useStore, useData } from '../store.js';
import { Amount, Bar, Dot, Shown, Spark, Status, Empty, tone } from '../ui.js';
import { task } from '../clock.js';
import { money, day, date, seconds, time, words, label, span, last } from '../format.js';

// Where the money of a company is.
async function balances({ id: company, currency }) {
  const { data } = await get('/api/business/ledger-accounts', { company_id: company, currency, per_page: 100 });
  const of = (f) => data.filter(f).reduce((n, a) => n + a.balance, 0), is = (...codes) => of((a) => codes.includes(a.code));
  return { available: is('cash_available'), reserved: is('cash_reserved', 'escrow_held'), transit: is('payouts_in_transit'),
    receive: is('accounts_receivable', 'collections_in_transit'), owed: of((a) => a.type === 'liability') };
}
// The next pay day: of an open run, else of the company's pay schedule, else its day of the month.
function nextPay(c, runs, scheduled, now) {
  const today = now.slice(0, 10);
  const run = runs.filter((r) => r.company_id === c.id && r.pay_date >= today && !['paid', 'cancelled', 'reversed'].includes(r.status)).map((r) => r.pay_date);
  const [on] = [...run, ...(scheduled[c.id] || [])].sort();
  if (on) return { on };
  const d = new Date(now), p = c.payroll_settings?.pay_day || 25;
  return { on: new Date(Date.UTC(d.getUTCFullYear(), d.getUTCMonth() + (d.getUTCDate() > p ? 1 : 0), p)).toISOString().slice(0, 10) };
}
async function payDays(today) {
  const { data } = await get('/api/business/pay-schedules', { status: 'active', per_page: 30 });
  const next = await Promise.all(data.map(async (s) => [s.company_id, (await get(`/api/business/pay-schedules/${s.id}/periods`, { from: today, limit: 3 })).data.periods.map((p) => p.pay_date).filter((d) => d >= today)]));
  const of = {};
  for (const [company, days] of next) of[company] = [...(of[company] || []), ...days];
  return of;
}
const SHOWN = 12; // cards; each costs three reads
async function load(now, most) {
  const [companies, runs, failed, open, scheduled] = await Promise.all([get('/api/business/companies', { per_page: most }), get('/api/business/payroll-runs', { sort: '-created_at', per_page: 100 }),
    Promise.all(['returned', 'failed'].map((status) => get('/api/payments/payouts', { status, sort: '-created_at', per_page: 50 }))).then((r) => r.flatMap((x) => x.data)), get('/api/business/compliance-requirements', { status: 'open', per_page: 100 }).catch(() => ({ data: [] })), payDays(now.slice(0, 10)).catch(() => ({}))]);
  const list = await Promise.all(companies.data.map(async (c) => {
    const [people, bal, { months }] = await Promise.all([get('/api/business/employees', { company_id: c.id, per_page: 1 }), balances(c), get('/_sandbox/series', { company_id: c.id, months: 13 })]);
    const alerts = [];
    const returned = failed.filter((p) => p.company_id === c.id);
    if (returned.length) alerts.push(['bad', `${returned.length} ${returned.length === 1 ? 'payout' : 'payouts'} came back`]);
    const req = open.data.filter((r) => r.company_id === c.id);
    if (req.length) alerts.push(['wait', `${req.length} to resolve`]);
    return { ...c, people: people.meta.total, bal, trend: months.map((m) => m.cash), pay: nextPay(c, runs.data, scheduled, now), alerts };
  }));
  return { list, total: companies.meta.total };
}

export function Overview({ open }) {
  const { clock, info, rev, at, events } = useStore();
  const [most, more] = useState(SHOWN);
  const got = useData(() => load(at?.timestamp || clock.now, most), [rev, most]);
  return html`<div class="page">
    <div class="head"><div><h1>Overview</h1><p class="muted">${got.data ? `${got.data.total} ${got.data.total === 1 ? 'company' : 'companies'}` : '\u00a0'}${info ? ` \u00b7 seed ${info.world?.seed ?? info.seed}` : ''} \u00b7 ${events.length ? `${events[events.length - 1].sequence} events` : 'no events yet'}</p></div>
      <a class="btn main-act" href="#/payroll">Run payroll</a></div>
    <${Shown} of=${got} rows=${6} empty=${{ when: (d) => !d.list.length, title: 'No companies', text: 'This world was grown without companies.' }}>${({ list, total }) => html`
      <div class="cards">${list.map((c) => html`<${Card} c=${c} now=${at?.timestamp || clock.now} key=${c.id} />`)}</div>
      ${total > list.length && html`<div class="row small muted">${list.length} of ${total} companies <button class="btn" onClick=${() => more(Math.min(most + SHOWN, 100))}>Show more</button></div>`}
      <div class="two"><div class="stack gap"><${Flow} list=${list} /><${Due} /></div><${Feed} open=${open} list=${list} /></div>`}<//></div>`;
}

const Card = ({ c, now }) => {
  const cash = c.bal.available + c.bal.reserved, first = c.trend[0];
  const change = first ? ((cash - first) / first) * 100 : 0;
  return html`<article class="panel card" aria-label=${c.legal_name}>
    <div class="row"><div class="grow"><h2 class="cut">${c.legal_name}</h2><p class="small muted">${label(c.industry)}</p></div><span class="cc">${c.country}</span></div>
    <div><p class="small muted">Cash</p><${Amount} value=${cash} currency=${c.currency} big=${true} />
      <p class="small muted">${c.bal.reserved ? html`${money(c.bal.reserved, c.currency)} reserved \u00b7 ` : ''}${change >= 0 ? '+' : '\u2212'}${Math.abs(change).toFixed(1)}\u00a0% in 12 months</p></div>
    <${Spark} values=${c.trend} name="Cash over twelve months" />
    <dl class="facts"><div><dt>Next pay day</dt><dd>${day(c.pay.on)} <span class="muted small">${c.pay.on === now.slice(0, 10) ? 'today' : span(new Date(c.pay.on) - new Date(now.slice(0, 10)))}</span></dd></div>
      <div><dt>People</dt><dd>${c.people}</dd></div>
      <div><dt>Alerts</dt><dd>${c.alerts.length ? html`<span class="${c.alerts[0][0]}">${c.alerts[0][1]}</span>` : html`<span class="muted">None</span>`}</dd></div></dl></article>`;
};

const STAGES = [['receive', 'To receive', 'var(--c3)'], ['available', 'Available', 'var(--c1)'], ['reserved', 'Reserved', 'var(--c4)'], ['transit', 'In transit', 'var(--c2)'], ['owed', 'Owed', 'var(--c4)']];
const Flow = ({ list }) => html`<section class="panel" aria-label="Money flow"><header><h2>Money flow</h2><span class="small muted">where the money of each company is</span></header>
  <div class="flow"><div class="r h"><span></span>${STAGES.map(([k, n], i) => html`<span>${n}</span>`)}</div>
  ${list.map((c) => { const most = Math.max(1, ...STAGES.map(([k]) => c.bal[k])); return html`<div class="r"><div class="grow"><p class="cut"><b class="soft">${c.legal_name.split(' ').slice(0, 2).join(' ')}</b></p><p class="small muted">${c.currency}</p></div>
    ${STAGES.map(([k, n, color]) => html`<div class="v" data-name=${n}>${c.bal[k] ? html`<b class="small" title=${money(c.bal[k], c.currency)}>${money(c.bal[k], c.currency).replace(/\.\d+$/, '')}</b>` : html`<span class="muted small">–</span>`}<i><${Bar} part=${c.bal[k]} whole=${most} color=${color} /></i></div>`)}</div>`; })}</div></section>`;

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
