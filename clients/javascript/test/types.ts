// Compiled in strict mode by `.ci/clients.sh`; never run.
import test from 'node:test';

import { Client, Page, Problem, verifyWebhook } from '../client.js';
import { withWorld } from '../kit.js';

interface Employee {
  id: string;
  name: string;
}

const it = withWorld(test);

it('types', async (world) => {
  const client: Client = world.client;
  const page = await client.get<Page<Employee>>('/api/business/employees', { per_page: 2, status: ['active', 'pending'], is_new: true });
  const total: number = page.body.meta.total;
  for await (const person of client.paginate<Employee>('/api/business/employees')) console.log(person.name, total);
  const receiver = await world.receiver('payroll_run.*');
  const id: string = (await receiver.waitFor('payroll_run.paid', { where: (event) => event.sequence > 1 })).id;
  await world.verify({ operation: 'runPayroll', times: { at_most: 1 }, match: { body: { id } } });
  const pdf: Buffer = await client.pdf(`/api/business/payslips/${id}`);
  verifyWebhook<{ type: string }>(['whsec_a', 'whsec_b'], { 'webhook-id': id }, pdf, { toleranceSeconds: 60 }).type.trim();
  try {
    await client.post('/v1/payroll/run', {}, { idempotencyKey: 'january' });
  } catch (error) {
    if (error instanceof Problem) console.log(error.code, error.errors[0]?.pointer, error.requestId);
  }
});

it('options', { timeout: 5_000 }, async (world) => { await world.advance('1d'); });
it('a time limit', async (world) => { await world.client.get('/api/business/companies', { since: new Date() }); }, 5_000);
it.only('only', async (world) => { await world.snapshot(); });
it.skip('skipped', { timeout: 5 }, async () => {});
it.todo('without a body');
