// The bar on top of every screen: what time it is in the world, what is due next, how to move on, and the slider.
import { html, useState, useRef, useEffect } from './vendor/htm-preact.js';
import { get, post, setKey, looksLive } from './api.js';
import { useStore, useData, update, poke, say, act, start, viewAt } from './store.js';
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
const TASK = { calculate_run: 'Calculate payroll run', fund_run: 'Reserve money for payroll run', send_run_payouts: 'Payouts of the run go to the bank', fall_due: 'Tax falls due', miss_liability: 'Tax becomes late', settle_payout: 'Bank answers on payout', settle_vendor_payout: 'Bank answers on payout', send_payout: 'Payout goes to the bank' };

export function Clock() {
  const { clock, total, at, moving } = useStore();
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
    <${Slider} total=${total} now=${clock.now} at=${at} />
  </section>`;
}

// Every past event is a stop. A pointer finds the nearest mark; the keys go event by event.
function Slider({ total, now, at }) {
  const got = useData(() => get('/_sandbox/events/histogram', { buckets: 240 }), [total < 2000 ? total : Math.floor(total / 100)]);
  const marks = got.data?.buckets || [];
  if (!marks.length) return null;
  const from = +new Date(got.data.from), to = Math.max(+new Date(now), from + 1), oldest = marks[0].first_sequence;
  const x = (t) => ((+new Date(t) - from) / (to - from)) * 996 + 2;
  const here = at?.timestamp || now, place = at ? at.sequence : total + 1;
  const go = (sequence) => viewAt(sequence > total ? null : Math.max(oldest, sequence)).catch((error) => say(error.message));
  const point = (e) => { const v = +e.target.value; let best = null, d = Math.abs(v - x(now)); for (const m of marks) { const k = Math.abs(v - x(m.to)); if (k < d) { d = k; best = m.last_sequence; } } go(best ?? total + 1); };
  const key = (e) => { const next = { ArrowLeft: place - 1, ArrowDown: place - 1, ArrowRight: place + 1, ArrowUp: place + 1, PageDown: place - 10, PageUp: place + 10, Home: oldest, End: total + 1 }[e.key]; if (next == null) return; e.preventDefault(); go(next); };
  return html`<div class="slide"><span class="muted small right">${day(marks[0].from)}</span>
    <div class="track"><svg viewBox="0 0 1000 18" preserveAspectRatio="none" aria-hidden="true">
      <rect x="0" y="8" width="1000" height="2" fill="var(--line)" /><rect x="0" y="8" width=${x(here)} height="2" fill="var(--accent-line)" />
      ${marks.map((m) => { const h = Math.min(14, 4 + 2 * Math.log2(m.count)); return html`<rect x=${x(m.to) - 1} y=${9 - h / 2} width="2" height=${h} fill=${m.first_sequence <= place ? 'var(--accent)' : 'var(--hair)'} />`; })}</svg>
      <input type="range" min="0" max="1000" value=${Math.round(x(here))} aria-label="Time: view the world as of a past event" aria-valuetext=${at ? `event ${at.sequence} of ${total}, ${date(at.timestamp)} ${seconds(at.timestamp)}` : 'present'} onInput=${point} onKeyDown=${key} /></div>
    <span class="small nowrap">${at ? html`<button class="link small" onClick=${() => viewAt(null)}>Back to now</button>` : html`<span class="row"><svg class="dot ok" viewBox="0 0 10 10" aria-hidden="true"><circle cx="5" cy="5" r="4" fill="currentColor" /></svg>Present</span>`}</span></div>`;
}
// Says which moment is shown, and opens it under a new key.
export const Past = ({ follows }) => {
  const { at, total } = useStore();
  const [forking, ask] = useState(false);
  if (!at) return null;
  const later = total - at.sequence;
  const fork = async (e) => {
    e.preventDefault(); const key = new FormData(e.target).get('key').trim();
    if (looksLive(key)) return say('This key looks like a live key.');
    if (await act(`Forked: this is the world of ${key}`, () => post(`/_sandbox/events/${at.id}/fork`, { key }))) { ask(false); setKey(key); location.hash = '#/overview'; start(); }
  };
  return html`<div class="past" role="status"><b>As of ${weekday(at.timestamp)}, ${seconds(at.timestamp)}</b><span>${follows ? `Event ${at.sequence} of ${total}, ${at.type}. ${later} later ${later === 1 ? 'event is' : 'events are'} hidden. ${follows}` : 'This screen shows the present.'}</span>
    ${forking ? html`<form class="row" onSubmit=${fork}><input class="field" name="key" required aria-label="New key" defaultValue=${`test_event_${at.sequence}`} value=${`test_event_${at.sequence}`} size="16" autocomplete="off" spellcheck="false" /><button class="btn main-act">Fork and open</button><button class="btn" type="button" onClick=${() => ask(false)}>Cancel</button></form>` : html`<button class="btn" onClick=${() => ask(true)}>Fork into a new key</button>`}
    <button class="btn" onClick=${() => viewAt(null)}>Back to now</button></div>`;
};
