// The program of this package: $SANDBOX_BIN, or that of the platform package which npm chose by its `os` and `cpu`.
import { createRequire } from 'node:module';

export const platformPackage = `finance-sandbox-${process.platform}-${process.arch}`;

export function program() {
  if (process.env.SANDBOX_BIN) return process.env.SANDBOX_BIN;
  const file = process.platform === 'win32' ? 'sandbox.exe' : 'sandbox';
  try {
    return createRequire(import.meta.url).resolve(`${platformPackage}/bin/${file}`);
  } catch {
    return undefined;
  }
}
