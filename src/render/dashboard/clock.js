// The bar on top of every screen: what time it is in the world, what is due next, how to move on, and the slider.
import { html, useState, useRef, useEffect } from './vendor/htm-preact.js';
import { post } from './api.js';
import { useStore, update, poke, say } from './store.js';
import { weekday, seconds, day, span, words, label, last, date } from './format.js';

let busy = false;
export async function advance(body) {
  if (busy) return;
  busy = true; update({ at: null, moving: true });
  try {
    const got = await post('/_sandbox/clock/advance', { ...body, events_limit: 0 });
    const n = Object.values(got.event_counts).reduce((sum, one) => sum + one, 0);
    say(`${n} ${n === 1 ? 'event' : 'events'} \u00b7 now ${date(got.now)} ${seconds(got.now)}`);
    await poke();
  } catch (error) { say(error.message, 6000); }
  busy = false; update({ moving: false });
}
export const toPayDay = () => advance({ until: 'pay_day' });

export const task = (id) => TASK[id] || label(id);
const TASK = { calculate_run: 'Calculate payroll run', fund_run: 'Take money for payroll run', send_run_payouts: 'Payouts of the run go to the bank', fall_due: 'Tax falls due', miss_liability: 'Tax becomes late', settle_payout: 'Bank answers on payout', settle_vendor_payout: 'Bank answers on payout', send_payout: 'Payout goes to the bank' };

export function Clock() {
  const { clock, events, at, moving } = useStore();
  const [custom, open] = useState(false);
  const field = useRef(null);
  useEffect(() => { if (custom) field.current?.focus(); }, [custom]);
  if (!clock) return html`<section class="clock" aria-label="Clock"><div class="top row"><span class="now muted">Reading the clock…</span></div></section>`;
  const next = [...clock.next].sort((a, b) => (a.at < b.at ? -1 : 1))[0];
  const still = clock.mode === 'instant' && !next;
  const submit = (e) => { e.preventDefault(); const v = field.current.value.trim(); open(false); if (v) advance(/^\d{4}-/.test(v) ? { to: v.length === 10 ? `${v}T00:00:00Z` : v } : { by: v }); };
  return html`<section class="clock" aria-label="Clock">
    <div class="top row">
      <div class="now">${weekday(clock.now)} <span>${seconds(clock.now)} UTC</span></div>
      <span class="tag idle" title="How time passes">${clock.mode}</span>
      <div class="next cut grow muted">${next ? html`Next <b class="soft">${task(next.task)}</b> ${new Date(next.at) > new Date(clock.now) ? `in ${span(new Date(next.at) - new Date(clock.now))}` : 'now'} <span class="mono small">${last(next.subject)}</span>${clock.pending > 1 ? ` and ${clock.pending - 1} more` : ''}` : still ? 'Nothing waits: outcomes come at once' : 'Nothing waits'}</div>
      <span class="grow only-s"></span>
      ${custom ? html`<form class="row" onSubmit=${submit}><label class="visually-hidden" for="by">How far, or to which date</label><input id="by" ref=${field} class="field" size="16" placeholder="10d, 3h, 2bd, 2026-03-01" onKeyDown=${(e) => e.key === 'Escape' && open(false)} /><button class="btn">Go</button></form>` : html`
      <div class="group" role="group" aria-label="Advance the clock">
        <button class="btn" disabled=${!next || moving} onClick=${() => advance({ until: 'next_event' })} title="Key: .">Next event</button>
        <button class="btn" disabled=${moving} onClick=${() => advance({ by: '1d' })} title="Key: d">1 day</button>
        <button class="btn" disabled=${moving} onClick=${toPayDay} title="Key: p">Pay day</button>
        <button class="btn" disabled=${moving} onClick=${() => open(true)} aria-label="Advance by something else">…</button>
      </div>`}
    </div>
    <${Slider} events=${events} now=${clock.now} at=${at} />
  </section>`;
}

function Slider({ events, now, at }) {
  // Stops: every distinct instant at which something happened, then the present.
  const stops = [...new Set(events.map((e) => e.timestamp))];
  if (stops.length < 2) return null;
  const from = +new Date(stops[0]), to = Math.max(+new Date(now), from + 1);
  const x = (t) => ((+new Date(t) - from) / (to - from)) * 996 + 2;
  const count = new Map();
  for (const e of events) count.set(e.timestamp, (count.get(e.timestamp) || 0) + 1);
  const index = at ? stops.indexOf(at) : stops.length;
  const here = at || now;
  return html`<div class="slide"><span class="muted small right">${day(stops[0])}</span>
    <div class="track"><svg viewBox="0 0 1000 18" preserveAspectRatio="none" aria-hidden="true">
      <rect x="0" y="8" width="1000" height="2" fill="var(--line)" /><rect x="0" y="8" width=${x(here)} height="2" fill="var(--accent-line)" />
      ${stops.map((t) => { const h = Math.min(14, 4 + 2 * Math.log2(count.get(t))); return html`<rect x=${x(t) - 1} y=${9 - h / 2} width="2" height=${h} fill=${t <= here ? 'var(--accent)' : 'var(--hair)'} />`; })}</svg>
      <input type="range" min="0" max="1000" value=${Math.round(x(here))} aria-label="Time: view the world as of a past event" aria-valuetext=${at ? `${date(at)} ${seconds(at)}` : 'present'}
        onInput=${(e) => { const v = +e.target.value; let best = stops.length; let d = Math.abs(v - x(now)); stops.forEach((t, i) => { const k = Math.abs(v - x(t)); if (k < d) { d = k; best = i; } }); update({ at: best === stops.length ? null : stops[best] }); }}
        onKeyDown=${(e) => { const step = { ArrowLeft: -1, ArrowRight: 1 }[e.key]; if (!step) return; e.preventDefault(); const n = Math.max(0, Math.min(stops.length, index + step)); update({ at: n === stops.length ? null : stops[n] }); }} /></div>
    <span class="small nowrap">${at ? html`<button class="link small" onClick=${() => update({ at: null })}>Back to now</button>` : html`<span class="row"><svg class="dot ok" viewBox="0 0 10 10" aria-hidden="true"><circle cx="5" cy="5" r="4" fill="currentColor" /></svg>Present</span>`}</span></div>`;
}
export const Past = ({ follows }) => {
  const { at, events } = useStore();
  if (!at) return null;
  const later = events.filter((e) => e.timestamp > at).length;
  return html`<div class="past" role="status"><b>As of ${weekday(at)}, ${seconds(at)}</b><span>${follows ? `${later} later ${later === 1 ? 'event is' : 'events are'} hidden. ${follows}` : 'This screen shows the present.'}</span><button class="btn" onClick=${() => update({ at: null })}>Back to now</button></div>`;
};
