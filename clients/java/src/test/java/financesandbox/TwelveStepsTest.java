package financesandbox;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import financesandbox.testing.Sandbox;
import financesandbox.testing.SandboxExtension;
import financesandbox.testing.World;
import financesandbox.testing.Receiver;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.math.BigDecimal;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.function.Executable;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

/** The same twelve steps in every language, against the real program. */
@ExtendWith(SandboxExtension.class)
class TwelveStepsTest {
    private static final String RUNS = "/api/business/payroll-runs";

    @Test
    void twelveSteps(World world) {
        Client client = world.client();
        // 1. Read a list.
        Reply companies = client.get("/api/business/companies");
        assertEquals(200, companies.status());
        String company = companies.at("/data/0/id");
        Map<String, Object> run = Map.of("company_id", company, "period", "2026-01");
        // 2. Iterate over pages.
        List<Object> people = new ArrayList<>();
        client.paginate("/api/business/employees", Map.of("company_id", company, "per_page", 10)).forEach(person -> people.add(person.get("id")));
        Set<Object> different = new HashSet<>(people);
        assertEquals(List.of(25, 25), List.of(people.size(), different.size()));
        // 3. Read a refusal, which is not sent again.
        Map<String, Object> unknown = Map.of("company_id", company, "period", "2026-01", "employees", List.of("emp_0000000000000"));
        Problem problem = assertThrows(Problem.class, () -> client.post("/v1/payroll/run", unknown));
        assertEquals(List.of(404, "resource_not_found", false), List.of(problem.status, problem.code, problem.retryable));
        assertEquals("/employees/0", problem.errors.get(0).get("pointer"));
        assertTrue(problem.requestId.startsWith("req_"));
        world.verify(Map.of("operation", "runPayroll", "times", 1));
        // 4. Receive webhooks.
        Receiver receiver = world.receiver("payroll_run.*");
        // 5. Lose a reply after the commit. The retry has the same key and does not pay twice.
        world.fault(Map.of("on", "runPayroll", "lose", "reply", "times", 1));
        Reply accepted = client.post("/v1/payroll/run", run);
        assertEquals(List.of(201, "true"), List.of(accepted.status(), accepted.header("Idempotent-Replayed")));
        String id = accepted.at("/data/id");
        world.verify(Map.of("operation", "runPayroll", "match", Map.of("status", 201), "times", 2));
        world.verify(Map.of("type", "payroll_run.created", "times", 1));
        // 6. Take a snapshot and fork the world.
        String before = world.snapshot();
        World copy = world.fork();
        // 7. Advance the clock; every person is paid once.
        world.advance("30d");
        Reply paid = client.get(RUNS + "/" + id);
        assertEquals("paid", paid.at("/data/status"));
        world.verify(Map.of("type", "payroll_run.paid", "times", 1));
        world.verify(Map.of("type", "payout.paid", "times", paid.<Long>at("/data/employee_count")));
        assertEquals("calculating", copy.client().get(RUNS + "/" + id).at("/data/status"));
        // 8. Wait for a webhook, whose signature is checked.
        Map<String, Object> event = receiver.waitFor("payroll_run.paid");
        assertEquals(id, Json.at(event, "/data/object/id"));
        assertEquals(List.of(), receiver.refused());
        assertTrue(world.deliveries(Map.of("event_type", "payroll_run.paid")).stream().allMatch(one -> "delivered".equals(one.get("status"))));
        // 9. Read a PDF.
        String payslip = client.get("/api/business/payslips", Map.of("payroll_run_id", id, "per_page", 1)).at("/data/0/id");
        byte[] pdf = client.pdf("/api/business/payslips/" + payslip);
        assertArrayEquals("%PDF-".getBytes(StandardCharsets.US_ASCII), Arrays.copyOf(pdf, 5));
        // 10. Wait as long as Retry-After says.
        world.fault(Map.of("on", "listEmployees", "status", 503, "retry_after", "1s", "times", 1));
        long started = System.nanoTime();
        assertEquals(200, client.get("/api/business/employees").status());
        assertTrue(System.nanoTime() - started >= 990_000_000);
        // 11. Go back, and let the bank refuse one payout.
        world.restore(before);
        assertEquals("calculating", client.get(RUNS + "/" + id).at("/data/status"));
        copy.scenario("partial-failure");
        copy.client().post("/v1/payroll/run", Map.of("company_id", company, "period", "2026-03"));
        copy.advance("30d");
        Reply partial = copy.client().get(RUNS, Map.of("period", "2026-03", "company_id", company));
        assertEquals("partially_paid", partial.at("/data/0/status"));
        assertEquals(1L, partial.<Long>at("/data/0/settlement/failed"));
        assertEquals(1, copy.events(Map.of("type", "payout.failed")).size());
        // 12. A failed verification names the near miss; the report has events and decisions.
        Map<String, Object> wrong = Map.of("operation", "runPayroll", "match", Map.of("body", Map.of("period", "2026-02")));
        AssertionError miss = assertThrows(AssertionError.class, () -> world.verify(wrong));
        assertTrue(miss.getMessage().matches(".*/body/period.*2026-01.*"), miss.getMessage());
        String report = world.report();
        assertTrue(report.contains("payroll_run.created prn_"), report);
        assertTrue(report.contains("payroll_run.calculate=on_time by default"), report);
        assertTrue(report.contains("POST /v1/payroll/run 404 resource_not_found"), report);
        assertTrue(report.substring(report.indexOf("near misses:\n")).contains("2026-02"), report);
        assertTrue(copy.report().contains("payroll_run.partially_paid prn_"), copy.report()); // the last events of many
    }

    @Test
    void webhookSignatures() throws WebhookException {
        String secret = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
        String right = "v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw=";
        String body = "{\"email\":\"test@example.com\",\"username\":\"test_user\"}";
        String other = "whsec_" + Base64.getEncoder().encodeToString(new byte[24]);
        String now = "1649367553";
        assertEquals("test_user", verify(List.of(secret), right, now, body, 0).get("username"));
        verify(List.of(other, secret), "v1,AAAA v2,BBBB " + right, now, body, 299);
        assertThrows(WebhookException.class, () -> verify(List.of(other), right, now, body, 0));
        assertThrows(WebhookException.class, () -> verify(List.of(secret), right, now, body + " ", 0));
        assertThrows(WebhookException.class, () -> verify(List.of(secret), right, now, body, 301));
        assertThrows(WebhookException.class, () -> verify(List.of(secret), right, now, body, -301));
        assertThrows(WebhookException.class, () -> verify(List.of(secret), null, now, body, 0));
        assertThrows(WebhookException.class, () -> verify(List.of(secret), right, "", body, 0));
        // Without a secret, anyone could sign.
        String unsigned = "v1,TxHn/RBa2mQ2GpApCz3ahGwUTfWQtptCladBBU+Nv9k=";
        assertThrows(WebhookException.class, () -> verify(List.of(""), unsigned, now, body, 0));
        assertThrows(WebhookException.class, () -> verify(List.of("whsec_()"), right, now, body, 0));
    }

    private static Map<String, Object> verify(List<String> secrets, String signature, String at, String body, long later)
        throws WebhookException {
        Map<String, String> headers = new java.util.HashMap<>();
        headers.put("webhook-id", "msg_27UH4WbU6Z5A5EzD8u03UvzRbpk");
        headers.put("webhook-timestamp", at);
        headers.put("webhook-signature", signature);
        Webhook webhook = new Webhook(secrets, Duration.ofMinutes(5));
        return webhook.verify(headers::get, body.getBytes(StandardCharsets.UTF_8), Instant.ofEpochSecond(1649367553 + later));
    }

    /** No name of a test, so only the test below runs it. */
    @ExtendWith(SandboxExtension.class)
    static class Failing {
        @Test
        void fails(World world) {
            assertThrows(Problem.class, () -> world.client().get("/api/business/employees/emp_0000000000000"));
            assertEquals(1, 2);
        }
    }

    @Test
    void aFailingTestReportsWhatHappenedInItsWorld() {
        SummaryGeneratingListener listener = new SummaryGeneratingListener();
        LauncherFactory.create().execute(LauncherDiscoveryRequestBuilder.request().selectors(selectClass(Failing.class)).build(), listener);
        Throwable thrown = listener.getSummary().getFailures().get(0).getException();
        String report = thrown.getSuppressed()[0].getMessage();
        assertTrue(report.contains("GET /api/business/employees/emp_0000000000000 404 resource_not_found"), report);
    }

    @Test
    void theClientGivesUpAfterItsRetries(World world) {
        world.fault(Map.of("on", "listEmployees", "status", 503, "times", 10));
        Client client = new Client(world.url(), world.key(), 1, Duration.ofSeconds(30));
        Problem problem = assertThrows(Problem.class, () -> client.get("/api/business/employees"));
        assertEquals(List.of(503, "maintenance"), List.of(problem.status, problem.code));
        world.verify(Map.of("operation", "listEmployees", "times", 2));
        world.fault(Map.of("on", "listCompanies", "body", "garbage", "times", 1));
        assertEquals(200, client.get("/api/business/companies").status());
    }

    @Test
    void theAnswersOfAProxy() throws IOException {
        List<String> calls = new CopyOnWriteArrayList<>();
        HttpServer proxy = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        proxy.createContext("/", exchange -> {
            calls.add(exchange.getRequestMethod());
            String date = DateTimeFormatter.RFC_1123_DATE_TIME.format(ZonedDateTime.now(ZoneOffset.UTC).plusSeconds(2));
            exchange.getResponseHeaders().add("Retry-After", date);
            exchange.sendResponseHeaders(calls.equals(List.of("GET", "GET")) ? 200 : 503, -1);
            exchange.close();
        });
        proxy.start();
        Client client = new Client("http://127.0.0.1:" + proxy.getAddress().getPort(), "test_key");
        long started = System.nanoTime();
        assertEquals(200, client.get("/").status());
        long waited = (System.nanoTime() - started) / 1_000_000; // until the date of Retry-After
        assertTrue(waited >= 900 && waited < 5_000, waited + " ms");
        // It does not say whether the change took effect.
        assertThrows(Problem.class, () -> client.request("PATCH", "/", Map.of(), Map.of(), Map.of()));
        assertEquals(List.of("GET", "GET", "PATCH"), calls);
        proxy.stop(0);
    }

    @Test
    void errorsOfOthersInJsonAreProblemsAndAMethodInLowerCaseHasAKey() throws IOException {
        List<String> keys = new CopyOnWriteArrayList<>();
        String[] body = {""};
        HttpServer proxy = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        proxy.createContext("/", exchange -> {
            keys.add(String.valueOf(exchange.getRequestHeaders().getFirst("Idempotency-Key")));
            exchange.getResponseHeaders().add("Content-Type", "application/json");
            exchange.sendResponseHeaders(503, body[0].length());
            exchange.getResponseBody().write(body[0].getBytes(StandardCharsets.UTF_8));
            exchange.close();
        });
        proxy.start();
        Client client = new Client("http://127.0.0.1:" + proxy.getAddress().getPort(), "test_key", 1, Duration.ofSeconds(30));
        for (String foreign : List.of("{\"error\":\"upstream\"}", "{\"error\":null}", "{\"errors\":null}", "{\"errors\":[\"a\"]}", "[1]", "7", "null", "\"down\"")) {
            body[0] = foreign;
            keys.clear();
            Problem problem = assertThrows(Problem.class, () -> client.request("post", "/", Map.of(), Map.of(), Map.of()), foreign);
            assertEquals(List.of(503, List.of(), true), List.of(problem.status, problem.errors, problem.retryable), foreign);
            assertTrue(keys.size() == 2 && !keys.get(0).equals("null") && keys.get(0).equals(keys.get(1)), foreign + keys);
        }
        body[0] = "{\"error\":{\"code\":\"down\",\"errors\":[\"a\",{\"pointer\":\"/b\",\"detail\":\"c\"}]}}";
        Problem problem = assertThrows(Problem.class, () -> client.get("/"));
        assertEquals(List.of("down", List.of(Map.of("pointer", "/b", "detail", "c"))), List.of(problem.code, problem.errors));
        proxy.stop(0);
    }

    @Test
    void test_live_updates_is_a_name_of_a_world(World world) {
        assertEquals(200, world.client().get("/api/business/companies").status());
    }

    @Test
    void aWrongProgramIsNamed() {
        String message = assertThrows(IllegalStateException.class, () -> new Sandbox("/no-such-program", List.of())).getMessage();
        assertTrue(message.matches("/no-such-program does not start: .*No such file.*SANDBOX_BIN.*"), message);
        message = assertThrows(IllegalStateException.class, () -> new Sandbox("echo", List.of())).getMessage();
        assertTrue(message.matches("echo does not serve: .*SANDBOX_BIN.*"), message);
        message = assertThrows(IllegalStateException.class, () -> new Sandbox("--clock", "sundial")).getMessage();
        assertTrue(message.contains("does not serve: it ended with 2"), message);
    }

    @Test
    void aTestThatRunsAgainHasItsWorldInItsFirstState() {
        try (Sandbox sandbox = new Sandbox()) {
            List<Object> states = new ArrayList<>();
            for (int run = 0; run < 2; run++) {
                World world = sandbox.world("again");
                Object endpoints = world.control("GET", "/webhook-endpoints", null).at("/data");
                assertEquals(List.of(), endpoints);
                states.add(world.control("GET", "/fingerprint", null).at("/data"));
                world.control("POST", "/webhook-endpoints", Map.of("url", "http://127.0.0.1:9/"));
                world.control("POST", "/reset", Map.of("seed", 7));
                world.scenario("partial-failure");
            }
            assertEquals(states.get(0), states.get(1));
        }
    }

    @Test
    void namesThatDifferInWhatAKeyDoesNotHaveHaveTheirOwnWorlds() {
        try (Sandbox sandbox = new Sandbox()) {
            String live = "live ".repeat(48);
            List<String> names = List.of("a b", "a-b", "a  b", "a b~1", "é", "ü", "a".repeat(300), "b" + "a".repeat(300), live, "b" + live);
            List<World> worlds = names.stream().map(sandbox::world).toList();
            List<String> keys = new ArrayList<>(worlds.stream().map(World::key).toList());
            worlds.forEach(world -> keys.add(world.fork().key()));
            assertEquals(20, Set.copyOf(keys).size());
            assertEquals(List.of("test_a-b", "test_-~4a99557e"), List.of(keys.get(0), keys.get(4)));
            assertTrue(keys.get(10).startsWith("test_a-b~"), keys.get(10));
        }
    }

    @Test
    void anOpenReceiverDoesNotKeepTheProcess() throws InterruptedException {
        try (Sandbox sandbox = new Sandbox()) {
            World world = sandbox.world("receivers");
            String url = world.fork().receiver().url();
            Thread.sleep(100); // its thread starts
            List<Thread> threads = Thread.getAllStackTraces().keySet().stream().filter(thread -> thread.getName().startsWith("HTTP-Dispatcher")).toList();
            assertTrue(threads.stream().anyMatch(Thread::isDaemon) && threads.stream().allMatch(Thread::isDaemon), threads.toString());
            world.close(); // closes the fork, too
            assertThrows(Problem.class, () -> new Client(url, "none", 0, Duration.ofSeconds(5)).get("/"));
        }
    }

    @Test
    void aServerThatHasEndedIsNamed() {
        for (boolean isKilled : List.of(true, false)) {
            Set<ProcessHandle> before = ProcessHandle.current().children().collect(Collectors.toSet());
            try (Sandbox sandbox = new Sandbox()) {
                World world = sandbox.world("ended");
                if (isKilled) {
                    ProcessHandle.current().children().filter(one -> !before.contains(one)).forEach(ProcessHandle::destroyForcibly);
                } else {
                    assertEquals(0, sandbox.stop());
                }
                String expected = "; the sandbox has ended with exit code " + (isKilled ? 137 : 0);
                List<Executable> calls = List.of(world::snapshot, world::report, () -> world.events(Map.of()), () -> sandbox.world("next"));
                for (Executable call : calls) {
                    Problem problem = assertThrows(Problem.class, call);
                    assertEquals(List.of(0, "no_reply"), List.of(problem.status, problem.code));
                    assertTrue(problem.getMessage().endsWith(expected), problem.getMessage());
                }
            }
        }
    }

    @Test
    void stopEndsTheProgramCleanly() {
        Sandbox sandbox = new Sandbox("--clock", "instant");
        assertEquals(0, sandbox.stop());
        Client client = new Client(sandbox.url(), "test_key", 0, Duration.ofSeconds(30));
        Problem problem = assertThrows(Problem.class, () -> client.get("/_sandbox/health"));
        assertEquals(List.of(0, "no_reply"), List.of(problem.status, problem.code));
    }

    @Test
    void jsonIsReadAndWritten() {
        String text = "{\"a\":[1,-2.50,true,null,\"\\\"\\\\ä\\u0001\"],\"b\":{},\"c\":[]}";
        assertEquals(text, Json.write(Json.parse(text)));
        assertEquals(Arrays.asList(1L, new BigDecimal("1e3"), "/\n\t😀"), Json.parse(" [ 1 , 1e3 , \"\\/\\n\\t\\ud83d\\ude00\" ] "));
        for (String wrong : List.of("", "{", "[1,", "[1 2]", "{\"a\"}", "{a:1}", "\"a", "nul", "1.", "[1]x", "{\"a\":1,}", "[,]")) {
            assertThrows(IllegalArgumentException.class, () -> Json.parse(wrong), wrong);
        }
    }
}
