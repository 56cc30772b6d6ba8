import { html, render, useState, useEffect, useRef } from './vendor/htm-preact.js';
import { BASE, getKey, setKey, setToken, hasToken, looksLive } from './api.js';
import { start, useStore } from './store.js';
import { Clock, Past, advance, toPayDay } from './clock.js';
import { Icon, Bones } from './ui.js';
import { Overview } from './screens/overview.js';
import { Payroll } from './screens/payroll.js';
import { Webhooks } from './screens/webhooks.js';
import { Books } from './screens/books.js';
import { Control } from './screens/control.js';
import { Identity } from './screens/identity.js';
import { Explain } from './screens/explain.js';

// A new screen: one module, one line here, one icon. `past`: what it shows while the slider is not at the present.
const SCREENS = [
  { id: 'overview', name: 'Overview', of: Overview, past: 'Balances, runs and alerts are those of that moment.' }, { id: 'payroll', name: 'Payroll', of: Payroll, past: 'Runs, people and payouts are those of that moment.' }, { id: 'webhooks', name: 'Webhooks', of: Webhooks },
  { id: 'books', name: 'Books', of: Books, past: 'Entries and reports are those of that moment.' }, { id: 'control', name: 'Control', of: Control }, { id: 'identity', name: 'Identity, capital', short: 'Identity', of: Identity, past: 'Cases, scores and loans are those of that moment.' },
];
const KEYS = [['g then o, p, w', 'Overview, payroll, webhooks'], ['g then b, c, i', 'Books, control, identity and capital'], ['.', 'Go to the next event'], ['d', 'Advance one day'], ['p', 'Advance to pay day'], ['← →', 'On the slider: one event back or forward; Page up and Page down: ten events'], ['Esc', 'Close'], ['?', 'This list']];
// An address that is not well encoded is taken as it is.
const decoded = (text) => { try { return decodeURIComponent(text); } catch { return text; } };
const here = () => { const [id, arg] = location.hash.replace(/^#\//, '').split('/'); return { id: id || 'overview', arg: arg && decoded(arg) }; };

function App() {
  const [at, go] = useState(here()), [drawer, open] = useState(null), [wrong, mistake] = useState('');
  const dialog = useRef(null), keys = useRef(null), before = useRef('');
  const s = useStore();
  useEffect(() => { const f = () => { go(here()); open(null); }; addEventListener('hashchange', f); return () => removeEventListener('hashchange', f); }, []);
  useEffect(() => {
    const f = (e) => {
      if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName) || document.querySelector('dialog[open]')) return;
      const two = before.current === 'g' && SCREENS.find((x) => x.id[0] === e.key);
      before.current = e.key;
      if (two) { before.current = ''; location.hash = `#/${two.id}`; }
      else if (e.key === '.') advance({ until: 'next_event' });
      else if (e.key === 'd') advance({ by: '1d' });
      else if (e.key === 'p') toPayDay();
      else if (e.key === '?') keys.current.showModal();
    };
    addEventListener('keydown', f); return () => removeEventListener('keydown', f);
  }, []);
  const screen = SCREENS.find((x) => x.id === at.id) || SCREENS[0];
  useEffect(() => { document.title = `${screen.name} \u00b7 Sandbox`; }, [screen]);
  const ask = () => { mistake(''); dialog.current.showModal(); };
  const change = (e) => {
    e.preventDefault();
    const f = new FormData(e.target), k = f.get('key').trim(), token = f.get('token').trim();
    if (looksLive(k)) return mistake('This key looks like a live key. Use a key of a test environment.');
    if (/[^!-~]/.test(k + token)) return mistake('A key and a token have only visible ASCII characters.');
    if (token) setToken(token);
    if (k) { setKey(k); open(null); location.hash = `#/${screen.id}`; }
    if (k || token) { dialog.current.close(); e.target.reset(); start(); }
  };
  const forget = () => { setToken(''); dialog.current.close(); start(); };
  return html`<div class="app">
    <aside class="side"><a class="brand" href="#/overview"><svg viewBox="0 0 20 20" fill="none" aria-hidden="true"><rect x="1" y="1" width="18" height="18" rx="5" fill="currentColor" opacity=".16" /><path d="M5.5 12.8l3-3.6 2.600 2.300L14.600 7" stroke="currentColor" stroke-width="1.800" stroke-linecap="round" stroke-linejoin="round" /></svg>Sandbox</a>
      <nav class="nav" aria-label="Screens">${SCREENS.map((x) => html`<a href=${`#/${x.id}`} aria-label=${x.name} aria-current=${x === screen ? 'page' : undefined}><${Icon} name=${x.id} /><span class="hide-s">${x.name}</span><span class="only-s">${x.short || x.name}</span></a>`)}
        <button class="only-s tabkey" onClick=${ask}><${Icon} name="key" />Key</button></nav>
      <div class="foot"><button class="world" onClick=${ask}><span class="muted">World of key</span><b class="mono cut">${getKey()}</b></button><span class="muted">Simulated. No real money. <a href=${`${BASE}/docs`}>Reference</a> · <button class="link small" onClick=${() => keys.current.showModal()}>Keys</button></span></div></aside>
    <div class="main"><${Clock} /><${Past} follows=${screen.past} />
      ${s.link === 'down' && html`<div class="banner" role="alert">The sandbox does not answer. The page tries again every two seconds; what you see may be old.</div>`}
      ${s.link === 'limited' && html`<div class="banner" role="alert">The sandbox limits the requests of this key, and the page reads with it. The page tries again soon; what you see may be old.</div>`}
      ${s.link === 'refused' && html`<div class="banner" role="alert">${s.refused?.message || 'The server refuses this key.'} <span class="mono">${getKey()}</span> <button class="btn" onClick=${ask}>Use another key</button></div>`}
      <main>${s.clock ? html`<${screen.of} open=${open} id=${at.arg} key=${screen.id + getKey()} />` : s.link === 'wait' ? html`<${Bones} rows=${5} />` : ''}</main></div>
    ${drawer && html`<${Explain} of=${drawer} close=${() => open(null)} open=${open} key=${drawer.key || drawer.item?.id || drawer.event?.id} />`}
    ${s.toast && html`<div class="toast" role="status">${s.toast}</div>`}
    <dialog ref=${dialog} aria-label="Key"><form class="stack" onSubmit=${change}><h2>Open another world</h2><p class="muted small">Each API key has its own world. The key stays in this tab and is sent to this server only.</p>${wrong && html`<p class="bad small" role="alert">${wrong}</p>`}<input class="field" name="key" aria-label="API key" autocomplete="off" spellcheck="false" placeholder=${getKey()} />
      <details class="small" open=${s.refused?.code === 'missing_credentials' || hasToken()}><summary>Admin token</summary><p class="muted">Only if the server was started with --admin-token.</p><input class="field" name="token" type="password" aria-label="Admin token" autocomplete="off" />${hasToken() && html`<button class="btn" type="button" onClick=${forget}>Remove the token</button>`}</details>
      <div class="row"><button class="btn main-act">Open</button><button class="btn" type="button" onClick=${() => dialog.current.close()}>Cancel</button></div></form></dialog>
    <dialog ref=${keys} aria-label="Keyboard"><div class="stack"><h2>Keyboard</h2><dl class="pairs">${KEYS.map(([k, t]) => html`<dt><kbd>${k}</kbd></dt><dd>${t}</dd>`)}</dl><form method="dialog"><button class="btn">Close</button></form></div></dialog>
  </div>`;
}
// The text of the loading page goes away: rendering would keep it below the screen.
const root = document.getElementById('app');
root.replaceChildren();
render(html`<${App} />`, root);
start();
