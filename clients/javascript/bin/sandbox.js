#!/usr/bin/env node
// Runs the program and ends as it ends. Signals go on to it, so that it stops cleanly.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';

import { platformPackage, program } from '../program.js';

const binary = program();
if (!binary) {
  console.error(`The package ${platformPackage} is not installed. Install without --omit=optional, delete a package-lock.json of another platform, or set SANDBOX_BIN.`);
  process.exit(1);
}
const child = spawn(binary, process.argv.slice(2), { stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('error', (error) => { console.error(error.message); process.exitCode = 1; });
child.on('exit', (code, signal) => { process.exitCode = code ?? 128 + constants.signals[signal]; });
