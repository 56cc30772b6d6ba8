import { html, useState } from '../vendor/htm-preact.js';
import { get, post } from '../api.js';
import { useStore, useData, act } from '../store.js';
import { Amount, Bar, Shown, Status, Tabs } from '../ui.js';
import { money, date, day, seconds, words, label, last } from '../format.js';

const TABS = ['Cases', 'Alerts', 'Readiness', 'Scores', 'Offers', 'Loans'];
export function Identity({ open, id }) {
  const { rev } = useStore();
  const tab = TABS.find((t) => t.toLowerCase() === id) || TABS[0];
  const Part = { Cases, Alerts, Readiness, Scores, Offers, Loans }[tab];
  return html`<div class="page"><div class="head"><div><h1>Identity and capital</h1><p class="muted">Verifications, alerts, readiness, scores, offers and loans</p></div></div>
    <${Tabs} names=${TABS} tab=${tab} label="Parts of identity and capital" set=${(t) => { location.hash = `#/identity/${t.toLowerCase()}`; }} />
    <${Part} rev=${rev} open=${open} key=${tab} /></div>`;
}
const Table = ({ name, head, children }) => html`<div class="scroll tall" tabindex="0" role="region" aria-label=${name}><table><thead><tr>${head.map(([t, c]) => html`<th class=${c || ''}>${t}</th>`)}</tr></thead><tbody>${children}</tbody></table></div>`;
const subjects = async (ids) => Object.fromEntries(await Promise.all([...new Set(ids.filter(Boolean))].slice(0, 60).map(async (id) => [id, (await get(`/api/identity/subjects/${id}`).catch(() => null))?.data])));
const who = (s, id) => s?.legal_name || [s?.name?.first, s?.name?.last].filter(Boolean).join(' ') || last(id);
const companies = async () => Object.fromEntries((await get('/api/business/companies', { per_page: 100 })).data.map((c) => [c.id, c]));

function Cases({ rev }) {
  const [status, filter] = useState('');
  const got = useData(async () => { const { data, meta } = await get('/api/identity/verifications', { status: status || undefined, sort: '-created_at', per_page: 100 }); return { data, meta, names: await subjects(data.map((v) => v.subject_id)) }; }, [rev, status]);
  return html`<section class="panel" aria-label="Verifications"><header><h2>Verifications <span class="muted">${got.data?.meta.total ?? ''}</span></h2><select class="field" aria-label="State" value=${status} onChange=${(e) => filter(e.target.value)}><option value="">All states</option>${['created', 'processing', 'in_review', 'resubmission_requested', 'approved', 'declined', 'expired', 'cancelled'].map((s) => html`<option value=${s}>${label(s)}</option>`)}</select></header>
    <${Shown} of=${got} rows=${6} empty=${{ when: (d) => !d.data.length, title: status ? 'None in this state' : 'No verification yet', text: status ? 'Choose another state.' : 'Create a subject and a verification, or trigger verification.approved on the Control screen.' }}>${(d) => html`<${Table} name="Table of verifications" head=${[['Subject'], ['Kind', 'hide-s'], ['State'], ['Checks', 'hide-s'], ['Submitted', 'num hide-s']]}>${d.data.map((v) => html`<tr key=${v.id}><td><b>${who(d.names[v.subject_id], v.subject_id)}</b> <span class="mono muted small">${last(v.id)}</span></td><td class="hide-s">${v.type.toUpperCase()} <span class="muted small">${words(v.level || '')}</span></td><td><${Status} value=${v.status} />${v.reject_labels?.length ? html` <span class="small bad">${v.reject_labels.map(words).join(', ')}</span>` : ''}</td><td class="hide-s"><span class="row wrap">${v.checks.map((c) => html`<${Status} value=${c.status} as=${{ passed: 'ok', failed: 'bad' }[c.status]} key=${c.name} /><span class="small muted">${words(c.name)}</span>`)}</span></td><td class="num muted small hide-s">${v.submitted_at ? `${day(v.submitted_at)}, ${seconds(v.submitted_at)}` : '–'}</td></tr>`)}<//>`}<//></section>`;
}

const SEVERITY = { critical: 'bad', high: 'bad', medium: 'wait', low: 'info' };
function Alerts({ rev }) {
  const [status, filter] = useState('');
  const got = useData(async () => { const { data, meta } = await get('/api/identity/aml-alerts', { status: status || undefined, sort: '-created_at', per_page: 100 }); return { data, meta, names: await subjects(data.map((a) => a.subject_id)) }; }, [rev, status]);
  const resolve = async (a, resolution) => { if (await act('Resolved', () => post(`/api/identity/aml-alerts/${a.id}/resolve`, { resolution, note: 'Decided on the dashboard' }))) got.reload(); };
  return html`<section class="panel" aria-label="Alerts"><header><h2>Alerts <span class="muted">${got.data?.meta.total ?? ''}</span></h2><select class="field" aria-label="State" value=${status} onChange=${(e) => filter(e.target.value)}><option value="">All states</option>${['open', 'escalated', 'confirmed', 'dismissed'].map((s) => html`<option value=${s}>${label(s)}</option>`)}</select></header>
    <${Shown} of=${got} rows=${6} empty=${{ when: (d) => !d.data.length, title: status ? 'None in this state' : 'No alert', text: status ? 'Choose another state.' : 'Screening and monitoring found nothing. Trigger aml_alert.opened on the Control screen to see one.' }}>${(d) => html`<${Table} name="Table of alerts" head=${[['Severity'], ['What'], ['State'], ['Opened', 'num hide-s'], ['', 'num']]}>${d.data.map((a) => html`<tr key=${a.id}><td><${Status} value=${a.severity} as=${SEVERITY[a.severity] || 'idle'} /></td><td><b>${words(a.rule)}</b> ${a.subject_id ? who(d.names[a.subject_id], a.subject_id) : ''}<p class="small muted">${a.detail}${a.amount != null ? ` \u00b7 ${money(a.amount, a.currency)}` : ''}</p></td><td><${Status} value=${a.status} as=${{ open: 'wait', escalated: 'bad', confirmed: 'bad', dismissed: 'ok' }[a.status]} /></td><td class="num muted small hide-s">${day(a.created_at)}, ${seconds(a.created_at)}</td><td class="num">${['open', 'escalated'].includes(a.status) && html`<span class="row end"><button class="btn" onClick=${() => resolve(a, 'false_positive')}>Dismiss</button><button class="btn bare" onClick=${() => resolve(a, 'true_positive')}>Confirm</button></span>`}</td></tr>`)}<//>`}<//></section>`;
}

// The latest scores and assessments.
async function made(kinds) {
  const found = await Promise.all(kinds.map(async ([path, name]) => (await get(path, { per_page: 20 })).data.map((score) => ({ ...score, name }))));
  return found.flat().sort((a, b) => (a.created_at < b.created_at ? 1 : -1));
}
const Scored = ({ rows, open, title }) => html`<div class="cards pad">${rows.map((s) => html`<button class="panel card pick" key=${s.id} onClick=${() => open({ kind: 'score', score: s, title: title(s), key: s.id })}><span class="row between"><b class="cut">${title(s)}</b><${Status} value=${s.status} /></span>
  <span class="row"><span class="amount big">${s.score ?? '–'}</span><span class="small muted">${label(s.band || s.tier || (s.ready == null ? '' : s.ready ? 'ready' : 'not ready') || ' ')}</span></span>
  ${s.pillars?.length ? s.pillars.map((p) => html`<span class="meter"><span class="small muted">${label(p.name)}</span><span class="small">${p.score} of ${p.max_score}</span><${Bar} part=${p.score} whole=${p.max_score} /></span>`) : html`<span class="meter"><${Bar} part=${s.score || 0} whole=${{ trust_score: 1000, credit_score: 850, insurance_risk_score: 100 }[s.object] || 100} /></span>`}
  <span class="small muted">${date(s.created_at)} · ${last(s.id)}</span></button>`)}</div>`;
function Readiness({ rev, open }) {
  const got = useData(async () => { const [rows, names] = await Promise.all([made([['/api/capital/readiness-assessments', 'Readiness']]), companies()]); return { rows, names }; }, [rev]);
  return html`<section class="panel" aria-label="Readiness"><header><h2>Readiness for an investment</h2><span class="small muted">choose one for its factors</span></header>
    <${Shown} of=${got} rows=${5} empty=${{ when: (d) => !d.rows.length, title: 'No assessment yet', text: 'Create one with POST /api/capital/readiness-assessments, or trigger readiness_assessment.completed on the Control screen.' }}>${(d) => html`<${Scored} rows=${d.rows} open=${open} title=${(s) => d.names[s.company_id]?.legal_name || last(s.company_id)} />`}<//></section>`;
}
const SCORES = [['/api/capital/credit-scores', 'Credit'], ['/api/identity/trust-scores', 'Trust'], ['/api/capital/insurance-risk-scores', 'Insurance risk']];
function Scores({ rev, open }) {
  const got = useData(async () => { const [rows, names] = await Promise.all([made(SCORES), companies()]); return { rows, names }; }, [rev]);
  return html`<section class="panel" aria-label="Scores"><header><h2>Scores</h2><span class="small muted">choose one for its factors</span></header>
    <${Shown} of=${got} rows=${5} empty=${{ when: (d) => !d.rows.length, title: 'No score yet', text: 'Create one with POST /api/capital/credit-scores, or trigger credit_score.completed on the Control screen.' }}>${(d) => html`<${Scored} rows=${d.rows} open=${open} title=${(s) => `${s.name}: ${d.names[s.company_id]?.legal_name || last(s.subject_id || s.company_id)}`} />`}<//></section>`;
}

const rate = (bp) => `${Math.floor(bp / 100)}.${String(bp % 100).padStart(2, '0')}\u00a0%`;
function Offers({ rev }) {
  const got = useData(async () => {
    const [{ data }, names] = await Promise.all([get('/api/capital/applications', { sort: '-created_at', per_page: 50 }), companies()]);
    const offers = await Promise.all(data.map((a) => get(`/api/capital/applications/${a.id}/offers`).then((r) => r.data)));
    return data.map((a, i) => ({ ...a, offers: offers[i], company: names[a.company_id] }));
  }, [rev]);
  // The money goes to the company's wallet in the currency of the offer.
  const respond = async (o, decision) => {
    const call = async () => {
      const wallet = decision === 'accept' ? (await get('/api/payments/wallets', { company_id: o.company_id, currency: o.currency, per_page: 1 })).data[0] : null;
      return post(`/api/capital/offers/${o.id}/respond`, { decision, ...(wallet ? { wallet_id: wallet.id } : {}) });
    };
    if (await act(`Offer ${decision === 'accept' ? 'accepted' : 'declined'}`, call)) got.reload();
  };
  return html`<section class="panel" aria-label="Applications"><header><h2>Applications and offers</h2></header>
    <${Shown} of=${got} rows=${5} empty=${{ when: (d) => !d.length, title: 'No application yet', text: 'Apply with POST /api/capital/applications, or trigger application.approved on the Control screen.' }}>${(rows) => html`<${Table} name="Table of applications" head=${[['Company'], ['Amount', 'num'], ['State'], ['Offer'], ['', 'num']]}>${rows.map((a) => html`<tr key=${a.id}><td><b>${a.company?.legal_name || last(a.company_id)}</b><p class="small muted">${words(a.product)} · ${a.term_months} months</p></td><td class="num"><${Amount} value=${a.amount} currency=${a.currency} /></td><td><${Status} value=${a.status} />${a.decision?.reasons?.length ? html`<p class="small muted">${a.decision.reasons.map((r) => r.detail || words(r.code)).join('; ')}</p>` : ''}</td>
      <td>${a.offers.length ? a.offers.map((o) => html`<p><${Status} value=${o.status} /> <span class="small">${rate(o.rate_bp)} · ${o.term_months} × ${money(o.instalment, o.currency)}</span></p><p class="small muted">total ${money(o.total_repayable, o.currency)} · valid until ${day(o.expires_at)}</p>`) : html`<span class="muted small">none</span>`}</td>
      <td class="num"><span class="row end">${a.offers.filter((o) => o.status === 'pending').map((o) => html`<button class="btn" onClick=${() => respond(o, 'accept')}>Accept</button><button class="btn bare" onClick=${() => respond(o, 'decline')}>Decline</button>`)}</span></td></tr>`)}<//>`}<//></section>`;
}
function Loans({ rev, open }) {
  const got = useData(async () => { const [{ data }, names] = await Promise.all([get('/api/capital/loans', { sort: '-created_at', per_page: 50 }), companies()]); return data.map((l) => ({ ...l, company: names[l.company_id] })); }, [rev]);
  return html`<section class="panel" aria-label="Loans"><header><h2>Loans</h2><span class="small muted">choose one for its schedule</span></header>
    <${Shown} of=${got} rows=${5} empty=${{ when: (d) => !d.length, title: 'No loan yet', text: 'A loan begins when an offer is accepted. Trigger loan.disbursed on the Control screen to see one.' }}>${(rows) => html`<${Table} name="Table of loans" head=${[['Company'], ['Amount', 'num'], ['State'], ['Repaid', 'hide-s'], ['Next due', 'num']]}>${rows.map((l) => { const paid = l.balances.principal_paid, show = () => open({ kind: 'loan', loan: l, key: l.id }); return html`<tr class="hit" key=${l.id} onClick=${show}><td><button class="link" onClick=${(e) => { e.stopPropagation(); show(); }}>${l.company?.legal_name || last(l.company_id)}</button><p class="small muted">${words(l.product)} · ${rate(l.rate_bp)}</p></td><td class="num"><${Amount} value=${l.amount} currency=${l.currency} /></td><td><${Status} value=${l.status} />${l.late_instalments ? html` <span class="small bad">${l.late_instalments} late</span>` : ''}</td><td class="hide-s"><span class="meter"><span class="small muted">${money(paid, l.currency)}</span><${Bar} part=${paid} whole=${l.amount} /></span></td><td class="num">${l.next_due ? html`<${Amount} value=${l.next_due.amount} currency=${l.currency} /><p class="small muted">${date(l.next_due.due_on)}</p>` : '–'}</td></tr>`; })}<//>`}<//></section>`;
}
