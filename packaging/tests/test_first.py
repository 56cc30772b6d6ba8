"""A first test of a user: only the installed wheel and pytest."""

import sys

from finance_sandbox.kit import program


def test_pays_once_although_a_reply_is_lost(world):
    assert program().startswith(sys.prefix), "the program is that of this environment"
    company = world.client.get("/api/business/companies").body["data"][0]["id"]
    receiver = world.receiver("payroll_run.*")
    world.fault(on="runPayroll", lose="reply", times=1)
    world.client.post("/v1/payroll/run", {"company_id": company, "period": "2026-01"})
    world.advance("30d")
    receiver.wait_for("payroll_run.paid")
    world.verify(type="payroll_run.paid", times=1)
