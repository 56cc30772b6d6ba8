// Pays two suppliers, and makes a new idempotency key for every attempt. A lost reply makes it pay twice.
//
//     sandbox exam -- node examples/exam/fresh_keys.mjs      exit code 1

import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";

const { SANDBOX_URL, SANDBOX_KEY } = process.env;

async function call(method, path, body) {
  for (let attempt = 0; attempt < 7; attempt++) {
    const headers = { Authorization: `Bearer ${SANDBOX_KEY}`, "Content-Type": "application/json" };
    if (body) headers["Idempotency-Key"] = randomUUID(); // the mistake: a retry is another purchase
    let wait = 100 * 2 ** attempt * (1 + Math.random() / 4);
    try {
      const signal = AbortSignal.timeout(2_000);
      const reply = await fetch(SANDBOX_URL + path, { method, headers, body: body && JSON.stringify(body), signal });
      const answer = await reply.json();
      if (reply.status < 400) return answer.data;
      if (reply.status !== 429 && reply.status < 500) throw new Refused(answer.detail);
      wait = Math.max(wait, 1_000 * Number(reply.headers.get("Retry-After") ?? 0));
    } catch (error) {
      if (error instanceof Refused) throw error;
    }
    await pause(wait);
  }
  process.exit(75);
}

class Refused extends Error {}

const company = (await call("GET", "/api/business/companies"))[0].id;
const wallet = (await call("GET", `/api/payments/wallets?company_id=${company}`))[0].id;
const account = { bank_code: "011", account_number: "0000014579", country: "NG", currency: "NGN" };
const payee = { company_id: company, name: "Ada Supplies", type: "business", account };
const supplier = (await call("POST", "/api/payments/beneficiaries", payee)).id;
for (const [reference, amount] of [["bill-1001", 500_000], ["bill-1002", 250_000]]) {
  const purchase = { company_id: company, wallet_id: wallet, beneficiary_id: supplier, amount, currency: "NGN" };
  await call("POST", "/api/payments/payouts", { ...purchase, rail: "instant", reference });
}
