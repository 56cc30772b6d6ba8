import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.File;
import java.nio.file.Files;
import java.util.Set;
import sandboxclient.ApiClient;
import sandboxclient.ApiException;
import sandboxclient.api.BusinessApi;
import sandboxclient.model.Problem;
import sandboxclient.model.RunPayrollRequest;
import sandboxclient.model.RunStatus;

/** The client of openapi-generator for Java, library `native`. */
final class Flow {
    public static void main(String[] arguments) throws Exception {
        ApiClient client = new ApiClient();
        client.updateBaseUri(arguments[0]);
        client.setRequestInterceptor(request -> request.header("Authorization", "Bearer test_java"));
        BusinessApi api = new BusinessApi(client);

        String company = api.listCompanies(null, null, null, null, null).getData().get(0).getId();
        RunPayrollRequest unknown = new RunPayrollRequest().companyId(company).period("2026-01").employees(Set.of("emp_0000000000000"));
        try {
            api.runPayroll(unknown, null);
            throw new AssertionError("it was not refused");
        } catch (ApiException refused) {
            Problem problem = client.getObjectMapper().readValue(refused.getResponseBody(), Problem.class);
            check(problem.getCode().getValue().equals("resource_not_found"));
            check(problem.getErrors().get(0).getPointer().equals("/employees/0"));
        }
        RunPayrollRequest run = new RunPayrollRequest().companyId(company).period("2026-01");
        String first = api.runPayroll(run, "january").getData().getId();
        check(api.runPayroll(run, "january").getData().getId().equals(first));
        check(api.getPayrollRun(first, null).getData().getStatus() == RunStatus.PAID);
        String payslip = api.listPayslips(null, 1L, null, null, null, null, null).getData().get(0).getId();
        File page = api.getPayslipPdf(payslip);
        check(Files.readString(page.toPath(), ISO_8859_1).startsWith("%PDF-"));
        System.out.println("java: passed");
    }

    private static void check(boolean holds) {
        if (!holds) {
            throw new AssertionError();
        }
    }
}
