// Verifies kept deliveries with the `standardwebhooks` of npm; then signs some and has `sandbox listen` judge.
//
//     node webhooks_verify.mjs BINARY DELIVERIES FOLDER_OF_NODE_MODULES

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';

const [binary, deliveries, modules] = process.argv.slice(2);
const { Webhook, WebhookVerificationError } = createRequire(`${resolve(modules)}/`)('standardwebhooks');

const secretOf = (first) => `whsec_${Buffer.from(Array.from({ length: 32 }, (_, at) => first + at)).toString('base64')}`;
const SECRET = secretOf(0);
const OTHER = secretOf(1);

function check(holds, what) {
    if (!holds) throw new Error(`FAILED: ${what}`);
    console.log(`ok  npm   ${what}`);
}

function verifies(secret, headers, body) {
    try {
        new Webhook(secret).verify(body, headers);
        return true;
    } catch (error) {
        if (error instanceof WebhookVerificationError) return false;
        throw error;
    }
}

function whatItSent() {
    const lines = readFileSync(deliveries, 'utf8').trim().split('\n').map((line) => JSON.parse(line));
    let spoilt = 0;
    for (const { valid, invalid, headers, body: coded } of lines) {
        const body = Buffer.from(coded, 'base64').toString('utf8');
        const right = valid.every((secret) => verifies(secret, headers, body));
        const wrong = invalid.some((secret) => verifies(secret, headers, body))
            || valid.some((secret) => verifies(secret, headers, `${body} `));
        if (!right || wrong) throw new Error(`FAILED: ${JSON.stringify(headers)}: ${right ? 'verifies that must not' : 'does not verify'}`);
        spoilt += valid.length === 0 ? 1 : 0;
    }
    const rotated = lines.filter(({ valid }) => valid.length === 2).length;
    check(lines.length > 6 && rotated > 1 && spoilt > 0,
        `${lines.length} deliveries, ${rotated} with two signatures, ${spoilt} spoilt: as they should be`);
}

async function whatItJudges() {
    const listening = spawn(binary, ['listen', '--json', '--secret', SECRET], { stdio: ['ignore', 'pipe', 'pipe'] });
    try {
        let url;
        for await (const line of createInterface(listening.stderr)) {
            url = /^listening on (\S+)$/.exec(line)?.[1];
            if (url) break;
        }
        const judged = createInterface(listening.stdout)[Symbol.asyncIterator]();
        const now = new Date();
        const past = new Date(now.getTime() - 6 * 60_000);
        const body = '{"type":"payout.paid","data":{"note":"naïve"}}';
        const cases = [
            ['valid', SECRET, now, body],
            ['invalid', SECRET, now, body.replace('paid', 'lost')],
            ['invalid', OTHER, now, body],
            ['stale', SECRET, past, body],
        ];
        for (const [number, [expected, secret, at, sent]] of cases.entries()) {
            const id = `evt_${number}`;
            const headers = {
                'content-type': 'application/json',
                'webhook-id': id,
                'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
                'webhook-signature': new Webhook(secret).sign(id, at, body),
            };
            await fetch(url, { method: 'POST', headers, body: sent });
            const line = JSON.parse((await judged.next()).value);
            check(line.id === id && line.signature === expected, `\`sandbox listen\` judges ${expected}: ${id}`);
        }
    } finally {
        listening.kill();
    }
}

whatItSent();
await whatItJudges();
