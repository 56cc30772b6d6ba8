// Command flow uses the client of openapi-generator for Go.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	client "sandboxclient"
)

func main() {
	configuration := client.NewConfiguration()
	configuration.Servers = client.ServerConfigurations{{URL: os.Args[1]}}
	api := client.NewAPIClient(configuration).BusinessAPI
	ctx := context.WithValue(context.Background(), client.ContextAccessToken, "test_go")

	companies, _, err := api.ListCompanies(ctx).Execute()
	check(err == nil, err)
	company := companies.Data[0].Id
	people, _, err := api.ListEmployees(ctx).CompanyId(company).PerPage(2).Execute()
	check(err == nil && people.Meta.Total == 25, err)

	unknown := client.NewRunPayrollRequest(company, "2026-01")
	unknown.Employees = []string{"emp_0000000000000"}
	_, _, err = api.RunPayroll(ctx).RunPayrollRequest(*unknown).Execute()
	var refused *client.GenericOpenAPIError
	check(errors.As(err, &refused), err)
	problem, isProblem := refused.Model().(client.Problem)
	check(isProblem && problem.Code == "resource_not_found" && problem.Errors[0].Pointer == "/employees/0", err)

	run := client.NewRunPayrollRequest(company, "2026-01")
	first, _, err := api.RunPayroll(ctx).RunPayrollRequest(*run).IdempotencyKey("january").Execute()
	check(err == nil, err)
	again, _, err := api.RunPayroll(ctx).RunPayrollRequest(*run).IdempotencyKey("january").Execute()
	check(err == nil && again.Data.Id == first.Data.Id, err)
	paid, _, err := api.GetPayrollRun(ctx, first.Data.Id).Execute()
	check(err == nil && paid.Data.Status == "paid", err)

	payslips, _, err := api.ListPayslips(ctx).PerPage(1).Execute()
	check(err == nil, err)
	file, _, err := api.GetPayslipPdf(ctx, payslips.Data[0].Id).Execute()
	check(err == nil, err)
	page := make([]byte, 5)
	_, err = io.ReadFull(file, page)
	check(err == nil && string(page) == "%PDF-", err)
	fmt.Println("go: passed")
}

func check(holds bool, err error) {
	if !holds {
		panic(fmt.Sprint("not as expected: ", err))
	}
}
