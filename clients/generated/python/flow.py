"""The client of `openapi-python-client`, checked by `mypy --strict`."""

import sys

from sandbox_client import AuthenticatedClient
from sandbox_client.api.business import get_payroll_run, get_payslip_pdf, list_companies, list_employees, list_payslips, run_payroll
from sandbox_client.models import CompanyList, EmployeeSummaryList, PayrollRunEnvelope, PayslipList, Problem, RunPayrollRequest, RunWithItemsEnvelope
from sandbox_client.types import File, Unset

client = AuthenticatedClient(base_url=sys.argv[1], token="test_python")

companies = list_companies.sync(client=client)
assert isinstance(companies, CompanyList)
company = companies.data[0].id
people = list_employees.sync(client=client, company_id=company, per_page=2)
assert isinstance(people, EmployeeSummaryList) and people.meta.total == 25

unknown = RunPayrollRequest(company_id=company, period="2026-01", employees=["emp_0000000000000"])
refused = run_payroll.sync(client=client, body=unknown)
assert isinstance(refused, Problem) and refused.code == "resource_not_found"
assert not isinstance(refused.errors, Unset) and refused.errors[0].pointer == "/employees/0"

run = RunPayrollRequest(company_id=company, period="2026-01")
first = run_payroll.sync(client=client, body=run, idempotency_key="january")
again = run_payroll.sync(client=client, body=run, idempotency_key="january")
assert isinstance(first, PayrollRunEnvelope) and isinstance(again, PayrollRunEnvelope)
assert first.data.id == again.data.id
paid = get_payroll_run.sync(first.data.id, client=client)
assert isinstance(paid, RunWithItemsEnvelope) and paid.data.status == "paid"

payslips = list_payslips.sync(client=client, per_page=1)
assert isinstance(payslips, PayslipList)
page = get_payslip_pdf.sync(payslips.data[0].id, client=client)
assert isinstance(page, File) and page.payload.read(5) == b"%PDF-"
print("python: passed")
