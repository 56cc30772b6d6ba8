// One state for the page: the clock, the events seen so far, and whether the sandbox answers.
// This is the only module that knows how news arrive: by the event stream, or by polling if there is none.
import { useEffect, useState } from './vendor/htm-preact.js';
import { get, setAsOf, setKeyHeader, stream } from './api.js';

const first = () => ({ clock: null, info: null, events: [], total: 0, seq: 0, rev: 0, hooks: 0, calls: 0, link: 'wait', news: '', at: null, toast: null, refused: null });
export let state = first();
const listeners = new Set();
export function update(patch) { state = { ...state, ...patch }; setAsOf(state.at?.sequence ?? null); listeners.forEach((f) => f()); }
// Shows the world as of a past event, by its position in the log; without one, the present.
let asked = 0;
export async function viewAt(sequence) {
  const mine = ++asked;
  if (sequence == null || sequence > state.total) return update({ at: null });
  const e = state.events.find((one) => one.sequence === sequence) || (await get('/_sandbox/events', { after: sequence - 1, per_page: 1 })).data[0];
  if (mine === asked && e) update({ at: { sequence: e.sequence, id: e.id, timestamp: e.timestamp, type: e.type } });
}
export function useStore() {
  const [, draw] = useState(0);
  useEffect(() => { const f = () => draw((n) => n + 1); listeners.add(f); return () => listeners.delete(f); }, []);
  return state;
}
let fading = 0;
export function say(toast, ms = 4000) { clearTimeout(fading); update({ toast }); fading = setTimeout(() => update({ toast: null }), ms); }
// Runs an action of a button. Its refusal becomes a message; nothing is thrown.
export async function act(done, call) {
  try { const got = await call(); if (done) say(typeof done === 'function' ? done(got) : done); await poke(); return got; } catch (error) { say(error.errors?.length ? error.errors.map((e) => `${e.pointer || ''} ${e.detail || e.code}`.trim()).join('; ').slice(0, 300) : error.message, 7000); return null; }
}

const KEEP = 1000, PACE_MS = 250, POLL_MS = 1000, RETRY_MS = 2000, PATIENCE_MS = 10000;
// A read of the state that gets no answer is given up and repeated.
const soon = (path, q) => get(path, q, { signal: AbortSignal.timeout(PATIENCE_MS) });
let run = 0, timer = 0, open = null;
export async function start() {
  const mine = ++run;
  clearTimeout(timer); open?.abort(); open = null;
  update(first());
  await live(mine);
}
// After an action of this page: the stream brings its effects by itself, polling has to be hurried.
export const poke = async () => { if (open) return readClock(run); clearTimeout(timer); return live(run); };

async function live(mine) {
  try {
    await refresh(mine);
    if (mine === run && !open && !document.hidden) follow(mine);
    timer = setTimeout(() => !open && live(mine), document.hidden ? 5000 : POLL_MS);
  } catch (error) { failed(mine, error); }
}
function failed(mine, error) {
  if (mine !== run) return;
  clearTimeout(timer); open?.abort(); open = null;
  update({ link: error.status === 401 || error.status === 403 ? 'refused' : error.status === 429 ? 'limited' : 'down', refused: error.status ? error : null });
  timer = setTimeout(() => live(mine), Math.max(RETRY_MS, error.retryAfter * 1000));
}
addEventListener('visibilitychange', () => { if (document.hidden) { open?.abort(); open = null; } else if (!open) { clearTimeout(timer); live(run); } });

async function readClock(mine) {
  const clock = await soon('/_sandbox/clock');
  if (mine !== run || JSON.stringify(clock) === JSON.stringify(state.clock)) return;
  const newDay = state.clock?.now.slice(0, 10) !== clock.now.slice(0, 10);
  update({ clock, rev: state.rev + (newDay ? 1 : 0) });
}

// Brings the state up to date by ordinary reads. Says that a reset or restored world is another one.
async function refresh(mine) {
  const fresh = !state.info || !state.events.length;
  const [clock, info] = await Promise.all([soon('/_sandbox/clock'), state.info || soon('/_sandbox/info')]);
  setKeyHeader(info.idempotency_key_header);
  let events = state.events, grown = false;
  if (fresh) {
    events = await tail();
    grown = events.length !== state.events.length || state.link === 'wait';
  } else {
    // Asks for the last known event again: if it is another one now, the world was reset or restored.
    const known = events[events.length - 1];
    const more = await soon('/_sandbox/events', { after: known.sequence - 1, per_page: 100 });
    if (more.data[0]?.id !== known.id) return again(mine);
    if (more.data.length > 1) { events = [...events, ...more.data.slice(1)].slice(-KEEP); grown = true; }
  }
  if (mine !== run) return;
  const newDay = state.clock?.now.slice(0, 10) !== clock.now.slice(0, 10);
  const back = ['down', 'refused', 'limited'].includes(state.link);
  if (grown || newDay || back || state.link !== 'live' || JSON.stringify(clock) !== JSON.stringify(state.clock)) {
    const polled = open ? 0 : 1;
    update({ clock, info, events, total: last(events)?.sequence || 0, link: 'live', refused: null, rev: state.rev + (grown || newDay || back ? 1 : 0), hooks: state.hooks + polled, calls: state.calls + polled });
  }
}
async function again(mine) {
  update({ events: [], info: null, at: null, clock: null });
  await refresh(mine);
  if (mine === run) say('The world was reset, restored or replaced. The page shows its present state.', 6000);
}
const last = (list) => list[list.length - 1];
async function tail() {
  const page = (number) => soon('/_sandbox/events', { sort: '-sequence', per_page: 100, page: number });
  const first = await page(1), more = [2, 3, 4, 5].filter((number) => (number - 1) * 100 < first.meta.total);
  const got = [first, ...await Promise.all(more.map(page))];
  return got.flatMap((t) => t.data).sort((a, b) => a.sequence - b.sequence).filter((e, i, all) => !i || e.sequence > all[i - 1].sequence);
}

// A real clock moves by itself: what it shows is read every second.
setInterval(() => { if (open && state.clock?.mode === 'real' && !document.hidden) readClock(run).catch(() => {}); }, 1000);

// Follows the stream until it ends. What arrives within a quarter of a second is shown together.
async function follow(mine) {
  const mineOnly = new AbortController();
  open = mineOnly;
  let news = { events: [], hooks: 0, calls: 0, clock: false, reset: false }, at = 0, due = 0;
  const flush = () => {
    due = 0; at = Date.now();
    const got = news; news = { events: [], hooks: 0, calls: 0, clock: false, reset: false };
    if (mine !== run || open !== mineOnly) return;
    if (got.reset) { again(mine).catch((error) => failed(mine, error)); return; }
    const seen = last(state.events)?.sequence || 0;
    const fresh = got.events.filter((e) => e.sequence > seen);
    const events = fresh.length ? [...state.events, ...fresh].slice(-KEEP) : state.events;
    if (fresh.length || got.hooks || got.calls) update({ events, total: last(events)?.sequence || 0, rev: state.rev + (fresh.length ? 1 : 0), hooks: state.hooks + got.hooks, calls: state.calls + got.calls });
    if (got.clock || fresh.length) readClock(mine).catch((error) => failed(mine, error));
  };
  const take = (kind, data) => {
    if (kind === 'event') news.events.push(data);
    else if (kind === 'delivery') news.hooks++;
    else if (kind === 'request') news.calls++;
    else if (kind === 'reset' || kind === 'lost') news.reset ||= kind === 'reset' || data.kind === 'event';
    else if (kind === 'clock') news.clock = true;
    if (!due) due = setTimeout(flush, Math.max(0, at + PACE_MS - Date.now()));
  };
  try {
    const reply = await stream('/_sandbox/events/stream', { after: last(state.events)?.sequence || 0 }, mineOnly.signal);
    const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
    update({ news: 'stream' });
    for (let text = ''; ;) {
      const { done, value } = await reader.read();
      if (done) break;
      text += value;
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        const frame = text.slice(0, end).split('\n'); text = text.slice(end + 2);
        const of = (name) => frame.filter((l) => l.startsWith(`${name}: `)).map((l) => l.slice(name.length + 2)).join('\n');
        if (of('data')) take(of('event'), JSON.parse(of('data')));
      }
    }
    throw null;
  } catch (error) {
    if (mine !== run || open !== mineOnly) return;
    open = null;
    update({ news: error?.status ? 'poll' : state.news });
    // A server without the stream is polled. Any other end is followed by a new attempt.
    clearTimeout(timer); timer = setTimeout(() => (error?.status && error.status !== 401 ? polling(mine) : live(mine)), error?.status ? POLL_MS : 100);
  } finally { clearTimeout(due); }
}
async function polling(mine) {
  try { await refresh(mine); clearTimeout(timer); timer = setTimeout(() => polling(mine), POLL_MS); } catch (error) { failed(mine, error); }
}

// No answer, a limit or an error of the server may pass; a refusal stays.
const passes = (error) => !error.status || error.status === 429 || error.status >= 500;
// Reads for a screen. `load` gets a signal, which ends its reads when they are no longer needed.
export function useData(load, deps) {
  const [got, set] = useState({ data: null, error: null, loading: true });
  const [n, again] = useState(0);
  useEffect(() => {
    const stop = new AbortController(), { signal } = stop;
    let retry = 0;
    load(signal).then((data) => signal.aborted || set({ data, error: null, loading: false }), (error) => {
      if (signal.aborted) return;
      set((was) => ({ ...was, error, loading: false }));
      if (passes(error)) retry = setTimeout(() => again((i) => i + 1), RETRY_MS);
    });
    return () => { stop.abort(); clearTimeout(retry); };
  }, [...deps, n, state.at?.sequence]);
  return { ...got, reload: () => again(n + 1) };
}
// Reads one thing of each company, `lanes` at a time. Each value is shown when it arrives; a refused one is `{ error }`.
export function useEach(list, read, deps, lanes = 4) {
  const [got, set] = useState({}), [n, again] = useState(0);
  useEffect(() => {
    const stop = new AbortController(), { signal } = stop, left = [...list];
    let fresh = {}, due = 0, retry = 0;
    const show = () => { const part = fresh; fresh = {}; due = 0; set((was) => ({ ...was, ...part })); };
    const lane = async () => {
      for (let one = left.shift(); one && !signal.aborted; one = left.shift()) {
        const value = await read(one, signal).catch((error) => ({ error }));
        if (signal.aborted) return;
        if (value?.error && passes(value.error)) retry ||= setTimeout(() => again((i) => i + 1), RETRY_MS);
        else { fresh[one.id] = value; due ||= setTimeout(show, 20); }
      }
    };
    for (let i = 0; i < lanes; i++) lane();
    return () => { stop.abort(); clearTimeout(due); clearTimeout(retry); };
  }, [...deps, n, list.map((one) => one.id).join(), state.at?.sequence]);
  return got;
}
