// Small parts that every screen uses.
import { html, useEffect, useRef } from './vendor/htm-preact.js';
import { parts, words, last } from './format.js';

const ICON = {
  key: 'M10.5 2.5a3 3 0 1 1 0 6 3 3 0 0 1 0-6zM8.300 7.700L3 13M3 13h2.500M5 11l1.500 1.500',
  overview: 'M2 9l6-6 6 6M4 8v6h8V8', payroll: 'M3 2h10v12l-2.5-1.6L8 14l-2.5-1.6L3 14zM6 6h4M6 9h4', webhooks: 'M8 3a2.5 2.5 0 0 1 1.2 4.7L11 11M8 5.5L5 11.5M4.5 9.5a2.5 2.5 0 1 0 2.6 3.2H11M12 10a2.2 2.2 0 1 1-1 4.2',
  books: 'M8 3.5C6.5 2.5 4.5 2.3 2 2.500v10c2.5-.2 4.5 0 6 1 1.5-1 3.5-1.2 6-1v-10c-2.5-.2-4.5 0-6 1zM8 3.500v10', control: 'M2 4.500h6M12 4.500h2M2 11.500h2M8 11.500h6M10 2.700v3.600M6 9.700v3.6', identity: 'M8 2l5 2v4c0 3-2 5-5 6-3-1-5-3-5-6V4zM5.8 8l1.6 1.600L10.5 6.4',
};
export const Icon = ({ name }) => html`<svg viewBox="0 0 16 16" fill="none" stroke="currentColor" stroke-width="1.4" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d=${ICON[name]} /></svg>`;

// Status: a colour and a shape, so that the colour is never the only sign.
const TONE = {
  ok: ['paid', 'issued', 'delivered', 'enabled', 'active', 'approved', 'verified', 'funded', 'filed', 'calculated', 'matched', 'credited', 'completed', 'succeeded', 'settled', 'accepted', 'repaid', 'disbursed', 'resolved', 'opened', 'imported', 'released', 'activated', 'won', 'received', 'acknowledged', 'passed', 'pass'],
  wait: ['pending', 'waiting', 'queued', 'sent', 'funding', 'calculating', 'processing', 'accrued', 'held', 'delayed', 'retrying', 'suggested', 'submitted', 'under_review', 'in_review', 'pending_disbursement', 'pending_approval', 'due', 'on_hold', 'requires_action', 'escalated', 'unmatched', 'exception', 'paused'],
  bad: ['failed', 'returned', 'rejected', 'exhausted', 'partially_paid', 'overdue', 'disabled', 'declined', 'funding_failed', 'blocked', 'dropped', 'late', 'defaulted', 'lost', 'expired', 'critical', 'high', 'fail', 'voided', 'disputed', 'resubmission_requested'],
  info: ['created', 'updated', 'draft', 'debited', 'reserved', 'open'],
};
export const tone = (status) => Object.keys(TONE).find((t) => TONE[t].includes(status)) || 'idle';
const SHAPE = {
  ok: html`<circle cx="5" cy="5" r="4.5" fill="currentColor" />`, wait: html`<circle cx="5" cy="5" r="3.6" fill="none" stroke="currentColor" stroke-width="1.8" />`,
  bad: html`<path d="M5 .6L9.7 9.200H.3z" fill="currentColor" />`, info: html`<rect x="1" y="1" width="8" height="8" rx="1.5" fill="currentColor" />`, idle: html`<path d="M1.5 5h7" stroke="currentColor" stroke-width="2" stroke-linecap="round" />`,
};
export const Dot = ({ of }) => html`<svg class="dot ${of}" viewBox="0 0 10 10" aria-hidden="true">${SHAPE[of]}</svg>`;
export const Status = ({ value, as }) => html`<span class="tag ${as || tone(value)}"><svg viewBox="0 0 10 10" aria-hidden="true">${SHAPE[as || tone(value)]}</svg>${words(value)}</span>`;

export function Amount({ value, currency, big }) {
  if (value == null) return html`<span class="muted">–</span>`;
  const p = parts(value, currency);
  return html`<span class="amount ${big ? 'big' : ''}">${p.sign}<span class="c">${p.symbol}</span>${p.whole}<span class="c">${p.rest}</span></span>`;
}
export const Id = ({ value }) => html`<span class="mono muted" title=${value}>${last(value)}</span>`;

export const Empty = ({ title, children }) => html`<div class="state"><b>${title}</b><span>${children}</span></div>`;
export const Bones = ({ rows = 4 }) => html`<div class="state" aria-busy="true"><span class="visually-hidden">Loading</span>${Array.from({ length: rows }, (_, i) => html`<svg class="bone" width=${220 - 34 * (i % 3)} height="12" aria-hidden="true"></svg>`)}</div>`;
export const Failed = ({ error, again }) => error.code === 'route_not_found' ? html`<div class="state"><b>Not in the contract</b><span>${error.message}</span></div>` : html`<div class="state" role="alert"><b>${error.status ? `Refused: ${error.code ? words(error.code) : error.status}` : 'The sandbox does not answer'}</b>
  <span>${error.message}</span>${error.requestId && html`<span class="mono small">${error.requestId}</span>`}<button class="btn" onClick=${again}>Try again</button></div>`;
// One place for the three states of every list.
export const Shown = ({ of, empty, rows, children }) => of.data == null ? (of.error ? html`<${Failed} error=${of.error} again=${of.reload} />` : html`<${Bones} rows=${rows} />`) : empty && empty.when(of.data) ? html`<${Empty} title=${empty.title}>${empty.text}<//>` : children(of.data);

export const Bar = ({ part, whole, color = 'var(--c1)', start = 0 }) => {
  const k = whole ? 1000 / whole : 0;
  return html`<svg viewBox="0 0 1000 8" preserveAspectRatio="none" aria-hidden="true"><rect class="bg" width="1000" height="8" fill="var(--idle-bg)" /><rect x=${start * k} width=${part > 0 ? Math.max(6, part * k) : 0} height="8" fill=${color} /></svg>`;
};
export function Spark({ values, name }) {
  if (!values || values.length < 2) return html`<svg class="spark" aria-hidden="true"></svg>`;
  const low = Math.min(...values), high = Math.max(...values), span = high - low || 1;
  const at = values.map((v, i) => [(i / (values.length - 1)) * 300, 38 - ((v - low) / span) * 32]);
  const line = at.map(([x, y], i) => `${i ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}`).join('');
  return html`<svg class="spark" viewBox="0 0 300 44" preserveAspectRatio="none" role="img" aria-label=${name}>
    <path d="${line}L300 44L0 44Z" fill="var(--accent-soft)" /><path d=${line} fill="none" stroke="var(--accent)" stroke-width="1.5" vector-effect="non-scaling-stroke" /></svg>`;
}

// Two bars and a line for each period. The numbers are in the table below it.
export function Bars({ rows, format, name }) {
  const W = 1000, top = 22, foot = 168, most = Math.max(1, ...rows.flatMap((r) => [r.a, r.b, r.line])), least = Math.min(0, ...rows.map((r) => r.line));
  const y = (v) => top + ((most - v) / (most - least)) * (foot - top), zero = y(0);
  const w = W / rows.length, bar = Math.min(44, w * 0.3), x = (i) => i * w + w / 2;
  return html`<div class="chart" tabindex="0" role="region" aria-label="Chart"><svg viewBox="0 0 ${W} 192" role="img" aria-label=${name}>
    ${[most, ...(least < 0 ? [least] : [])].map((v) => html`<line x1="0" x2=${W} y1=${y(v)} y2=${y(v)} stroke="var(--line)" /><text x="2" y=${v < 0 ? y(v) - 4 : y(v) - 5} class="tick">${v < 0 ? '\u2212' : ''}${format(Math.abs(v))}</text>`)}
    ${rows.map((r, i) => html`<g><title>${`${r.full}: revenue ${format(r.a)}, expenses ${format(r.b)}, profit ${r.line < 0 ? '\u2212' : ''}${format(Math.abs(r.line))}`}</title><rect x=${x(i) - bar - 2} y=${y(r.a)} width=${bar} height=${Math.max(0, zero - y(r.a))} rx="3" fill="var(--c1)" /><rect x=${x(i) + 2} y=${y(r.b)} width=${bar} height=${Math.max(0, zero - y(r.b))} rx="3" fill="var(--c2)" /><text x=${x(i)} y="186" class="tick" text-anchor="middle">${r.name}</text></g>`)}
    <line x1="0" x2=${W} y1=${zero} y2=${zero} stroke="var(--hair)" />
    <path d=${rows.map((r, i) => `${i ? 'L' : 'M'}${x(i)} ${y(r.line)}`).join('')} fill="none" stroke="var(--ink)" stroke-width="2" />${rows.map((r, i) => html`<circle cx=${x(i)} cy=${y(r.line)} r="4" fill="var(--surface)" stroke=${r.line < 0 ? 'var(--bad)' : 'var(--ink)'} stroke-width="2" />`)}</svg></div>`;
}
export const Json = ({ value }) => html`<pre tabindex="0" aria-label="JSON">${JSON.stringify(value, null, 2)}</pre>`;

// A list of tabs: one stop of the Tab key, and arrow keys within.
export function Tabs({ names, tab, set, label: name }) {
  const list = useRef(null);
  const key = (e) => {
    const at = names.indexOf(tab), to = { ArrowLeft: at - 1, ArrowUp: at - 1, ArrowRight: at + 1, ArrowDown: at + 1, Home: 0, End: names.length - 1 }[e.key];
    if (to == null) return;
    e.preventDefault(); e.stopPropagation();
    const next = (to + names.length) % names.length;
    set(names[next]); list.current.children[next].focus();
  };
  return html`<div class="tabs" role="tablist" aria-label=${name} ref=${list} onKeyDown=${key}>${names.map((t) => html`<button role="tab" aria-selected=${String(t === tab)} tabindex=${t === tab ? 0 : -1} onClick=${() => set(t)}>${t}</button>`)}</div>`;
}
export function Drawer({ title, sub, close, tabs, tab, setTab, children }) {
  const box = useRef(null);
  useEffect(() => {
    const before = document.activeElement;
    box.current.querySelector('button')?.focus({ preventScroll: true });
    const esc = (e) => {
      if (e.key === 'Escape') close();
      if (e.key !== 'Tab' || document.querySelector('dialog[open]')) return;
      // The rest of the page is behind the drawer: Tab stays inside.
      const all = [...box.current.querySelectorAll('a[href], button, input, select, textarea, summary, iframe, [tabindex="0"]')].filter((x) => !x.disabled && x.offsetParent !== null);
      const ends = e.shiftKey ? [all[0], all[all.length - 1]] : [all[all.length - 1], all[0]];
      if (document.activeElement === ends[0] || !box.current.contains(document.activeElement)) { e.preventDefault(); ends[1]?.focus(); }
    };
    addEventListener('keydown', esc);
    return () => { removeEventListener('keydown', esc); before?.focus?.({ preventScroll: true }); };
  }, []);
  return html`<aside class="drawer" role="dialog" aria-modal="true" aria-label=${title} ref=${box}>
    <header><div class="row between"><div class="grow"><h2>${title}</h2><p class="muted small cut">${sub}</p></div><button class="btn bare" onClick=${close}>Close <kbd aria-hidden="true">Esc</kbd></button></div>
      ${tabs && html`<${Tabs} names=${tabs} tab=${tab} set=${setTab} label=${title} />`}</header>
    <div class="body" tabindex="0">${children}</div></aside>`;
}
