// A first test of a user: only the installed npm packages.
import test from 'node:test';
import { withWorld } from 'finance-sandbox/kit';

const it = withWorld(test);

it('pays once, although a reply is lost', async (world) => {
  const company = (await world.client.get('/api/business/companies')).body.data[0].id;
  const receiver = await world.receiver('payroll_run.*');
  await world.fault({ on: 'runPayroll', lose: 'reply', times: 1 });
  await world.client.post('/v1/payroll/run', { company_id: company, period: '2026-01' });
  await world.advance('30d');
  await receiver.waitFor('payroll_run.paid');
  await world.verify({ type: 'payroll_run.paid', times: 1 });
});
