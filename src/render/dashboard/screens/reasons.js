// Drawers that take one thing apart: a posting chain, a request, a score, a loan.
import { html, useState } from '../vendor/htm-preact.js';
import { BASE, get, getKey, getKeyHeader } from '../api.js';
import { useData, say } from '../store.js';
import { Amount, Dot, Drawer, Json, Shown, Status, tone } from '../ui.js';
import { Amounts } from './explain.js';
import { money, date, day, seconds, words, label, last } from '../format.js';

// All entries of the source of one entry, as T-accounts: what was debited and credited, and why.
export function Chain({ entry, company, close }) {
  const got = useData(async () => {
    const { data } = entry.source?.id ? await get('/api/business/journal-entries', { company_id: company.id, source_id: entry.source.id, per_page: 50 }) : { data: [entry] };
    return data.length ? data : [entry];
  }, [entry.id]);
  return html`<${Drawer} title=${entry.memo} sub=${`${date(entry.effective_on)} \u00b7 ${entry.id}`} close=${close}>
    <${Shown} of=${got}>${(entries) => { const accounts = new Map(); for (const e of entries) for (const l of e.lines) { const slot = `${l.account}|${l.currency}`; accounts.has(slot) || accounts.set(slot, { account: l.account, currency: l.currency, debit: [], credit: [] }); accounts.get(slot)[l.direction].push({ ...l, memo: e.memo, on: e.effective_on }); }
      return html`<p class="small muted">${entry.source ? html`Source: ${words(entry.source.type)} <span class="mono">${entry.source.id}</span>. ` : ''}${entries.length} ${entries.length === 1 ? 'entry' : 'entries'} of this source, ${accounts.size} accounts.</p>
      <div class="taccounts">${[...accounts.values()].map((t) => html`<${T} ...${t} />`)}</div>
      <section class="stack"><h3>In order</h3><ol class="chain">${entries.map((e) => html`<li><${Dot} of=${e.id === entry.id ? 'ok' : 'idle'} /><b>${e.memo}</b><p class="small muted">${date(e.effective_on)} · ${e.lines.map((l) => `${l.direction === 'debit' ? 'Dr' : 'Cr'} ${l.account} ${money(l.amount, l.currency)}`).join(', ')}</p></li>`)}</ol></section>`; }}<//><//>`;
}
function T({ account, currency, debit, credit }) {
  const sum = (list) => list.reduce((n, l) => n + l.amount, 0), rows = Math.max(debit.length, credit.length);
  const shown = Math.min(rows, 6), cell = (l) => (l ? html`<${Amount} value=${l.amount} currency=${currency} />` : '');
  return html`<table class="tee"><caption class="mono">${account}</caption><thead><tr><th class="num">Debit</th><th class="num">Credit</th></tr></thead><tbody>${Array.from({ length: shown }, (_, i) => html`<tr><td class="num" title=${debit[i]?.memo}>${cell(debit[i])}</td><td class="num" title=${credit[i]?.memo}>${cell(credit[i])}</td></tr>`)}
    ${rows > shown && html`<tr><td class="muted small num" colspan="2">and ${rows - shown} more</td></tr>`}<tr class="total"><td class="num">${debit.length ? html`<b>${money(sum(debit), currency)}</b>` : ''}</td><td class="num">${credit.length ? html`<b>${money(sum(credit), currency)}</b>` : ''}</td></tr></tbody></table>`;
}

// A request: what was sent, what came back, what followed, and the same call in four languages.
export function Request({ request: r, close, open }) {
  const [tab, setTab] = useState(r.error ? 'Refusal' : 'Chain');
  const got = useData(() => get(`/_sandbox/requests/${r.request_id}`), [r.request_id]);
  const tabs = [...(r.error ? ['Refusal'] : []), 'Chain', 'Sent', 'Copy'];
  const show = async (id) => { try { const { event } = await get(`/_sandbox/events/${id}`); open({ kind: 'event', event, key: id }); } catch (error) { say(error.message); } };
  return html`<${Drawer} title=${`${r.method} ${r.path}`} sub=${`${r.operation || 'no operation'} \u00b7 ${date(r.at)}, ${seconds(r.at)} \u00b7 ${r.request_id}`} close=${close} tabs=${tabs} tab=${tab} setTab=${setTab}>
    ${tab === 'Copy' ? html`<${Copies} r=${r} />` : tab === 'Sent' ? html`<dl class="pairs"><dt>Status</dt><dd><b>${r.status ?? 'no reply'}</b></dd>${r.idempotency_key && html`<dt>Idempotency key</dt><dd class="mono">${r.idempotency_key} (${words(r.idempotency || 'not checked')})</dd>`}${r.sandbox_scenario && html`<dt>Sandbox-Scenario</dt><dd class="mono">${r.sandbox_scenario}</dd>`}${r.fault && html`<dt>Fault</dt><dd class="mono">${typeof r.fault === 'string' ? r.fault : JSON.stringify(r.fault)}</dd>`}${r.query && html`<dt>Query</dt><dd class="mono">${r.query}</dd>`}</dl><h3>Body</h3>${r.body ? html`<${Json} value=${r.body} />` : html`<p class="muted small">${r.body_bytes ? `${r.body_bytes} bytes, too large to be kept` : 'No body.'}</p>`}`
      : tab === 'Refusal' ? html`<${Refusal} r=${r} />`
      : html`<${Shown} of=${got}>${(d) => html`<ol class="chain"><li><${Dot} of=${r.status < 400 ? 'info' : 'bad'} /><b>${r.method} ${r.path}</b> <span class="tag ${r.status < 400 ? 'idle' : 'bad'}">${r.status ?? 'lost'}</span></li>
        ${d.events.map((e) => html`<li><${Dot} of="ok" /><button class="link mono" onClick=${() => show(e)}>${e}</button><p class="small muted">caused directly</p></li>`)}
        ${d.followed.slice(0, 30).map((e) => html`<li><${Dot} of="wait" /><button class="link mono" onClick=${() => show(e)}>${e}</button><p class="small muted">followed later</p></li>`)}
        ${d.followed.length > 30 && html`<li><${Dot} of="idle" /><span class="muted">and ${d.followed.length - 30} more</span></li>`}
        ${!d.events.length && !d.followed.length && html`<li><${Dot} of="idle" /><span class="muted">No event followed${r.method === 'GET' ? ': it only read' : ''}.</span></li>`}</ol>`}<//>`}<//>`;
}
// The journal keeps the code of a refusal. The nearest call that was accepted shows what differs.
function Refusal({ r }) {
  const near = useData(async () => (r.operation ? (await get('/_sandbox/requests', { operation: r.operation, per_page: 100 })).data.filter((o) => o.status < 400) : []), [r.request_id]);
  return html`<div class="note bad"><b>${r.status}</b> ${words(r.error)}</div>
    <section class="stack"><h3>What was sent</h3>${r.body ? html`<${Json} value=${r.body} />` : html`<p class="mono small">${r.query || 'no body, no query'}</p>`}</section>
    <section class="stack"><h3>Nearest accepted call</h3><${Shown} of=${near} empty=${{ when: (d) => !d.length, title: 'None', text: r.operation ? `No call of ${r.operation} was accepted yet.` : 'No operation has this path.' }}>${(list) => { const [best] = list.map((o) => ({ o, d: differ(r.body, o.body) })).sort((a, b) => a.d.length - b.d.length);
      return html`<p class="small muted">Request <span class="mono">${last(best.o.request_id)}</span>, ${date(best.o.at)}, answered ${best.o.status}</p>${best.d.length ? html`<table class="tight"><thead><tr><th>Member</th><th>Refused</th><th>Accepted</th></tr></thead><tbody>${best.d.slice(0, 20).map(([k, a, b]) => html`<tr><td class="mono">${k}</td><td class="mono bad cut">${a === undefined ? 'absent' : JSON.stringify(a)}</td><td class="mono ok cut">${b === undefined ? 'absent' : JSON.stringify(b)}</td></tr>`)}</tbody></table>` : html`<p class="small">The bodies are equal: the state of the world made the difference.</p>`}`; }}<//></section>`;
}
export function differ(a, b, at = '') {
  if (a && b && typeof a === 'object' && typeof b === 'object') return [...new Set([...Object.keys(a), ...Object.keys(b)])].flatMap((k) => differ(a[k], b[k], `${at}/${k}`));
  return JSON.stringify(a) === JSON.stringify(b) ? [] : [[at || '/', a ?? undefined, b ?? undefined]];
}

export const LANGUAGES = { curl, pytest, vitest, Rust: rust };
function Copies({ r }) {
  const [of, pick] = useState('curl');
  const text = LANGUAGES[of](r);
  const copy = async () => { try { await navigator.clipboard.writeText(text); say('Copied'); } catch { say('The browser does not allow copying: select the text.'); } };
  return html`<div class="row between"><div class="group" role="group" aria-label="Language">${Object.keys(LANGUAGES).map((l) => html`<button class="btn ${l === of ? 'on' : ''}" aria-pressed=${String(l === of)} onClick=${() => pick(l)}>${l}</button>`)}</div><button class="btn main-act" onClick=${copy}>Copy</button></div><pre tabindex="0" aria-label="Code">${text}</pre>${r.idempotency_key && html`<p class="small muted">The call was made with an Idempotency-Key. The copy has a new one, because the old one would repeat the old answer.</p>`}`;
}
const target = (r) => `${r.path}${r.query ? `?${r.query}` : ''}`;
const address = (r) => location.origin + BASE + target(r);
const quote = (text) => `'${text.replace(/'/g, "'\\''")}'`;
const text = (value) => JSON.stringify(value);
// A Rust string has other escapes than JSON for control characters.
const rustText = (value) => text(value).replace(/\\(u([0-9a-f]{4})|.)/g, (all, kind, hex) => (hex ? `\\u{${/^d[89a-f]/.test(hex) ? 'fffd' : hex}}` : { b: '\\u{8}', f: '\\u{c}' }[kind] || all));
const name = (r) => `${words(r.operation || 'call').replace(/([A-Z])/g, '_$1').toLowerCase().replace(/\W+/g, '_')}_returns_${isLost(r) ? 'nothing' : r.status}`;
const isLost = (r) => r.status == null || (r.fault?.source === 'Sandbox-Fault' && /^lose/.test(r.fault.does));
const has = (r) => r.body != null;
// A body that is no JSON is logged as text, and is sent as it was. A JSON string is refused by the schema.
const isRaw = (r) => typeof r.body === 'string' && r.error !== 'validation_failed';
const sent = (r) => (isRaw(r) ? r.body : JSON.stringify(r.body));
// The headers of the call that the log has, with a new idempotency key as the language writes it.
const headers = (r, string, key) => [['Authorization', string(`Bearer ${getKey()}`)], ...(r.idempotency_key ? [[getKeyHeader() || 'Idempotency-Key', key]] : []), ...(r.sandbox_scenario ? [['Sandbox-Scenario', string(r.sandbox_scenario)]] : []), ...(r.fault?.source === 'Sandbox-Fault' ? [['Sandbox-Fault', string(r.fault.does)]] : []), ...(has(r) ? [['Content-Type', string('application/json')]] : [])];
function curl(r) {
  const fresh = `copy-${Date.now().toString(36)}${Math.random().toString(36).slice(2, 8)}`;
  return `curl -s -X ${r.method} ${quote(address(r))}${headers(r, String, fresh).map(([k, v]) => ` \\\n  -H ${quote(`${k}: ${v}`)}`).join('')}${has(r) ? ` \\\n  --data-raw ${quote(sent(r))}` : ''}\n`;
}
// A JSON value as a language writes it: only the literals differ, never what a string contains.
const PYTHON = { null: 'None', true: 'True', false: 'False', string: text, number: text }, RUST = { null: 'null', true: 'true', false: 'false', string: rustText, number: (n) => `${n}${Number.isInteger(n) && Math.abs(n) > 2147483647 ? '_i64' : ''}` };
function literal(value, as, by = '') {
  const deeper = `${by}    `;
  if (value === null || value === undefined) return as.null;
  if (typeof value === 'boolean') return as[value];
  if (Array.isArray(value)) return value.length ? `[\n${value.map((v) => `${deeper}${literal(v, as, deeper)},\n`).join('')}${by}]` : '[]';
  if (typeof value === 'object') { const rows = Object.entries(value); return rows.length ? `{\n${rows.map(([k, v]) => `${deeper}${as.string(k)}: ${literal(v, as, deeper)},\n`).join('')}${by}}` : '{}'; }
  return as[typeof value](value);
}
// A call without a reply: the test expects that it fails.
function pytest(r) {
  const all = headers(r, text, 'str(uuid.uuid4())').filter(([k]) => k !== 'Content-Type' || isRaw(r)), lost = isLost(r), by = lost ? '        ' : '    ';
  const imports = `${r.idempotency_key ? 'import uuid\n\n' : ''}import httpx\n${lost ? 'import pytest\n' : ''}`;
  const call = `httpx.request(\n${by}    ${text(r.method)},\n${by}    ${text(address(r))},\n${by}    headers={${all.map(([k, v]) => `${text(k)}: ${v}`).join(', ')}},\n${has(r) ? `${by}    ${isRaw(r) ? `content=${text(r.body)}.encode()` : `json=${literal(r.body, PYTHON, `${by}    `)}`},\n` : ''}${by})\n`;
  return `${imports}\n\ndef test_${name(r)}():\n${lost ? `    with pytest.raises(httpx.TransportError):\n        ${call}` : `    reply = ${call}    assert reply.status_code == ${r.status}\n${r.error ? `    assert reply.json()["code"] == ${text(r.error)}\n` : ''}`}`;
}
function vitest(r) {
  const lost = isLost(r), all = headers(r, text, 'crypto.randomUUID()').map(([k, v]) => `${/-/.test(k) ? `'${k}'` : k}: ${v}`).join(', ');
  const body = has(r) ? `    body: ${isRaw(r) ? text(r.body) : `JSON.stringify(${JSON.stringify(r.body, null, 2).replace(/\n/g, '\n    ')})`},\n` : '';
  const call = `fetch(${text(address(r))}, {\n    method: ${text(r.method)},\n    headers: { ${all} },\n${body}  })`;
  return `import { expect, test } from 'vitest';\n\ntest(${text(words(name(r)))}, async () => {\n${lost ? `  await expect(${call}).rejects.toThrow();\n` : `  const reply = await ${call};\n  expect(reply.status).toBe(${r.status});\n${r.error ? `  expect((await reply.json()).code).toBe(${text(r.error)});\n` : ''}`}});\n`;
}
function rust(r) {
  const lost = isLost(r), all = headers(r, rustText, 'format!("copy-{}", std::time::UNIX_EPOCH.elapsed()?.as_nanos())').filter(([k]) => k !== 'Content-Type' || isRaw(r));
  const body = has(r) ? `        ${isRaw(r) ? `.body(${rustText(r.body)})` : `.json(&serde_json::json!(${literal(r.body, RUST, '        ')}))`}\n` : '';
  return `#[test]\nfn ${name(r)}() -> Result<(), Box<dyn std::error::Error>> {\n    let reply = reqwest::blocking::Client::new()\n        .request(reqwest::Method::${r.method}, ${rustText(address(r))})\n${all.map(([k, v]) => `        .header(${text(k)}, ${v})\n`).join('')}${body}        .send()${lost ? ';\n    assert!(reply.is_err());\n' : `?;\n    assert_eq!(reply.status().as_u16(), ${r.status});\n${r.error ? `    assert_eq!(reply.json::<serde_json::Value>()?["code"], ${text(r.error)});\n` : ''}`}    Ok(())\n}\n`;
}

// A score down to its factors. They sum to the score.
export function Score({ score: s, title, close }) {
  const factors = s.factors?.length ? s.factors : s.drivers?.length ? s.drivers : s.reasons?.length ? s.reasons.map((r) => ({ name: r.factor, reason: r.detail, points: r.points, max_points: r.weight })) : (s.pillars || []).flatMap((p) => p.factors.map((f) => ({ ...f, pillar: p.name })));
  return html`<${Drawer} title=${title} sub=${`${words(s.object)} \u00b7 ${s.id}`} close=${close}>
    <div><p class="small muted">${label(s.band || s.tier || (s.ready == null ? 'score' : s.ready ? 'ready' : 'not ready'))}</p><span class="amount big">${s.score ?? '–'}</span></div>
    ${s.score != null ? html`<${Amounts} id=${s.id} pointer="/score" name="Score" />` : html`<p class="muted small">It has no score yet.</p>`}
    ${s.formula && html`<section class="stack"><h3>Formula</h3><p class="small">${typeof s.formula === 'string' ? s.formula : html`<${Json} value=${s.formula} />`}</p></section>`}
    ${(s.gaps?.length || s.next_steps?.length) ? html`<section class="stack"><h3>Next steps</h3><ul class="stack">${[...(s.next_steps?.length ? s.next_steps : s.gaps)].map((g) => html`<li class="note">${typeof g === 'string' ? g : g.detail || g.action || g.name || JSON.stringify(g)}</li>`)}</ul></section>` : ''}
    <section class="stack"><h3>Evidence</h3><table class="tight"><tbody>${factors.filter((f) => f.evidence?.length).map((f) => html`<tr><td>${label(f.name)}</td><td class="num">${f.value ?? ''}</td><td class="mono small">${f.evidence.map((e) => e.operation).join(', ')}</td></tr>`)}</tbody></table></section><//>`;
}

// A loan: what is paid, due and late, instalment by instalment.
export function Loan({ loan: l, close }) {
  const most = Math.max(1, ...l.schedule.map((i) => i.amount));
  return html`<${Drawer} title=${`${label(l.product)}: ${money(l.amount, l.currency)}`} sub=${`${(l.rate_bp / 100).toFixed(2)}\u00a0% \u00b7 ${l.term_months} months \u00b7 ${l.id}`} close=${close}>
    <div class="row wrap"><${Status} value=${l.status} />${l.late_instalments ? html`<span class="bad small">${l.late_instalments} late</span>` : ''}</div>
    <dl class="pairs">${Object.entries(l.balances).map(([k, v]) => html`<dt>${label(k)}</dt><dd><${Amount} value=${v} currency=${l.currency} /></dd>`)}${l.next_due && html`<dt>Next due</dt><dd>${date(l.next_due.due_on)}, ${money(l.next_due.amount, l.currency)}</dd>`}</dl>
    ${l.schedule.length ? html`<div class="scroll" tabindex="0" role="region" aria-label="Schedule"><table class="tight"><thead><tr><th>Due</th><th>State</th><th class="num">Principal</th><th class="num">Interest</th><th class="num">Instalment</th><th class="num">Left</th></tr></thead><tbody>${l.schedule.map((i) => html`<tr><td class="nowrap">${day(i.due_on)} ${i.due_on.slice(0, 4)}</td><td><${Status} value=${i.status} as=${i.status === 'upcoming' ? 'idle' : tone(i.status)} /></td><td class="num"><${Amount} value=${i.principal} currency=${l.currency} /></td><td class="num"><${Amount} value=${i.interest} currency=${l.currency} /></td><td class="num"><b><${Amount} value=${i.amount} currency=${l.currency} /></b></td><td class="num"><${Amount} value=${i.balance} currency=${l.currency} /></td></tr>`)}</tbody></table></div>` : html`<p class="muted small">The schedule begins when the money is paid out.</p>`}<//>`;
}
