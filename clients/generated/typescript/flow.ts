// The client of `@hey-api/openapi-ts`, compiled in strict mode.
import assert from 'node:assert/strict';

import { client } from './generated/client.gen.js';
import { getPayrollRun, getPayslipPdf, listCompanies, listEmployees, listPayslips, runPayroll } from './generated/sdk.gen.js';
import type { PayrollRun, Problem } from './generated/types.gen.js';

client.setConfig({ baseUrl: process.argv[2], auth: () => 'test_typescript' });

const companies = await listCompanies({ throwOnError: true });
const company = companies.data.data[0];
assert.ok(company);
const people = await listEmployees({ query: { company_id: company.id, per_page: 2 }, throwOnError: true });
assert.equal(people.data.meta.total, 25);

const refused = await runPayroll({ body: { company_id: company.id, period: '2026-01', employees: ['emp_0000000000000'] } });
const problem: Problem | undefined = refused.error;
assert.equal(problem?.code, 'resource_not_found');
assert.equal(problem?.errors?.[0]?.pointer, '/employees/0');

const send = () =>
  runPayroll({ body: { company_id: company.id, period: '2026-01' }, headers: { 'Idempotency-Key': 'january' }, throwOnError: true });
const first: PayrollRun = (await send()).data.data;
const again: PayrollRun = (await send()).data.data;
assert.equal(again.id, first.id);
const paid = await getPayrollRun({ path: { payroll_run_id: first.id }, throwOnError: true });
assert.equal(paid.data.data.status, 'paid');

const payslip = (await listPayslips({ query: { per_page: 1 }, throwOnError: true })).data.data[0];
assert.ok(payslip);
const page: Blob = (await getPayslipPdf({ path: { payslip_id: payslip.id }, throwOnError: true })).data;
assert.equal((await page.text()).slice(0, 5), '%PDF-');
console.log('typescript: passed');
