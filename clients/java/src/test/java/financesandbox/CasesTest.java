package financesandbox;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.function.Executable;

/** The cases of {@code clients/cases.json}, which all six clients share. */
class CasesTest {
    private static final Object CASES = read();

    private static Object read() {
        try {
            return Json.parse(Files.readString(Path.of("../cases.json")));
        } catch (IOException missing) {
            throw new UncheckedIOException(missing);
        }
    }

    private record Request(List<String> head, String body) {
        String target() {
            return head.get(0).split(" ")[1];
        }

        List<String> values(String name) {
            return head.stream().filter(line -> line.toLowerCase(Locale.ROOT).startsWith(name + ":"))
                .map(line -> line.substring(name.length() + 1).strip()).toList();
        }
    }

    /** Answers the requests with the bytes of the replies, the last of them again and again, and keeps the requests. */
    private static final class Stub implements AutoCloseable {
        final List<Request> requests = new CopyOnWriteArrayList<>();
        final ServerSocket listener = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
        private final List<byte[]> replies;
        private final int slowFrom;

        Stub(List<byte[]> replies, int slowFrom) throws IOException {
            this.replies = replies;
            this.slowFrom = slowFrom;
            Thread thread = new Thread(() -> {
                while (!listener.isClosed()) {
                    try (Socket socket = listener.accept()) {
                        answer(socket);
                    } catch (IOException | InterruptedException ended) {
                        // the client does not wait for the rest, or the test has ended
                    }
                }
            });
            thread.setDaemon(true);
            thread.start();
        }

        Stub() throws IOException {
            this(List.of("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n".getBytes(StandardCharsets.UTF_8)), -1);
        }

        private void answer(Socket socket) throws IOException, InterruptedException {
            BufferedReader reader = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1));
            List<String> head = new ArrayList<>();
            int length = 0;
            for (String line = reader.readLine(); line != null && !line.isEmpty(); line = reader.readLine()) {
                head.add(line);
                length = line.toLowerCase(Locale.ROOT).startsWith("content-length: ") ? Integer.parseInt(line.substring(16)) : length;
            }
            StringBuilder body = new StringBuilder();
            for (; length > 0; length--) {
                body.append((char) reader.read());
            }
            byte[] reply = replies.get(Math.min(requests.size(), replies.size() - 1));
            requests.add(new Request(head, new String(body.toString().getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8)));
            OutputStream out = socket.getOutputStream();
            int fast = slowFrom < 0 ? reply.length : slowFrom;
            out.write(reply, 0, fast);
            for (int at = fast; at < reply.length; at++) {
                out.write(reply[at]);
                Thread.sleep(100);
            }
        }

        String url() {
            return "http://127.0.0.1:" + listener.getLocalPort();
        }

        @Override
        public void close() throws IOException {
            listener.close();
        }
    }

    private static Stream<DynamicTest> each(String kind, Row test) {
        return Json.objects(Json.at(CASES, "/" + kind)).stream()
            .map(row -> DynamicTest.dynamicTest((String) row.get("name"), () -> test.run(row)));
    }

    private interface Row {
        void run(Map<String, Object> row) throws Exception;
    }

    @SuppressWarnings("unchecked")
    private static <V> Map<String, V> map(Map<String, Object> row, String name) {
        return (Map<String, V>) row.getOrDefault(name, Map.of());
    }

    @SuppressWarnings("unchecked")
    private static List<String> texts(Map<String, Object> row, String name) {
        return (List<String>) row.get(name);
    }

    private static byte[] bytes(Map<String, Object> row, String reply) {
        int start = reply.indexOf("\r\n\r\n") + 4;
        int times = row.get("times") instanceof Long said ? said.intValue() : 1;
        String text = start < 4 ? reply : reply.substring(0, start) + reply.substring(start).repeat(times);
        String content = new String(Base64.getDecoder().decode((String) row.getOrDefault("content", "")), StandardCharsets.ISO_8859_1);
        return (new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1) + content).getBytes(StandardCharsets.ISO_8859_1);
    }

    private static void checkProblem(Problem problem, int status, Map<String, Object> expected) {
        assertEquals(List.of(status, expected.get("code"), expected.get("retryable")), List.of(problem.status, problem.code, problem.retryable));
        assertTrue(problem.detail.contains((String) expected.get("detail")), problem.detail);
    }

    @TestFactory
    Stream<DynamicTest> replies() {
        return each("replies", row -> {
            List<String> texts = row.containsKey("replies") ? texts(row, "replies") : List.of((String) row.get("reply"));
            int slowFrom = row.containsKey("slow_head") ? 40 : row.containsKey("slow") ? texts.get(0).indexOf("\r\n\r\n") + 4 : -1;
            try (Stub stub = new Stub(texts.stream().map(text -> bytes(row, text)).toList(), slowFrom)) {
                Client client = new Client(stub.url(), "test_key", row.containsKey("replies") ? 3 : 0, Duration.ofSeconds(1));
                String method = (String) row.get("method");
                int status = ((Long) row.get("status")).intValue();
                long started = System.nanoTime();
                if (row.containsKey("problem")) {
                    checkProblem(assertThrows(Problem.class, () -> client.request(method, "/", null, Map.of(), Map.of())), status, map(row, "problem"));
                } else {
                    Reply reply = client.request(method, "/", null, Map.of(), Map.of());
                    Object body = row.containsKey("json") ? reply.json() : new String(reply.content(), StandardCharsets.UTF_8);
                    assertEquals(List.of(status, row.getOrDefault("json", row.getOrDefault("text", ""))), List.of(reply.status(), body));
                }
                double seconds = (System.nanoTime() - started) / 1e9;
                assertTrue(seconds >= ((Number) row.getOrDefault("waits", 0)).intValue() && seconds < 3, String.valueOf(seconds));
                assertEquals(((Number) row.getOrDefault("requests", 1)).intValue(), stub.requests.size());
                List<String> keys = stub.requests.stream().flatMap(one -> one.values("idempotency-key").stream()).toList();
                assertEquals(method.equals("POST") ? stub.requests.size() : 0, keys.size());
                assertTrue(keys.stream().distinct().count() <= 1);
            }
        });
    }

    @TestFactory
    Stream<DynamicTest> requests() {
        // A client has no headers of its own.
        return each("requests", row -> {
            if (row.containsKey("client_headers")) {
                return;
            }
            try (Stub stub = new Stub()) {
                String method = (String) row.get("method");
                Object body = method.equals("POST") ? row.getOrDefault("body", Map.of()) : null;
                Client client = new Client(stub.url(), "test_key");
                Executable call = () -> client.request(method, (String) row.get("path"), body, map(row, "query"), map(row, "headers"));
                if (row.containsKey("refused")) {
                    assertThrows(IllegalArgumentException.class, call);
                    assertEquals(0, stub.requests.size());
                    return;
                }
                assertDoesNotThrow(call);
                Request request = stub.requests.get(0);
                assertEquals(row.get("target"), request.target());
                assertEquals(body, body == null ? null : Json.parse(request.body()));
                map(row, "sent").forEach((name, value) -> assertEquals(List.of(value), request.values(name)));
                if (row.containsKey("new_key")) {
                    assertEquals(List.of(false), request.values("idempotency-key").stream().map(String::isEmpty).toList());
                }
            }
        });
    }

    @TestFactory
    Stream<DynamicTest> pages() {
        return each("pages", row -> {
            try (Stub stub = new Stub(texts(row, "replies").stream().map(text -> bytes(row, text)).toList(), -1)) {
                List<Object> ids = new ArrayList<>();
                Client client = new Client(stub.url(), "test_key");
                Executable read = () -> client.paginate((String) row.get("path"), map(row, "query")).forEach(item -> ids.add(item.get("id")));
                if (row.containsKey("problem")) {
                    checkProblem(assertThrows(Problem.class, read), 0, map(row, "problem"));
                } else {
                    assertDoesNotThrow(read);
                    assertEquals(row.get("ids"), ids);
                }
                assertEquals(row.get("targets"), stub.requests.stream().map(Request::target).toList());
            }
        });
    }

    @TestFactory
    Stream<DynamicTest> webhooks() {
        return each("webhooks", row -> {
            Map<String, Object> headers = new HashMap<>(Map.of("webhook-timestamp", row.get("timestamp"), "webhook-signature", row.get("signature")));
            headers.put("webhook-id", row.getOrDefault("id", "evt_1"));
            List<String> secrets = row.containsKey("secrets") ? texts(row, "secrets") : List.of((String) row.get("secret"));
            Webhook webhook = new Webhook(secrets, Duration.ofSeconds(((Number) row.getOrDefault("tolerance", 300)).intValue()));
            byte[] body = Base64.getDecoder().decode((String) row.get("body"));
            Instant now = Instant.ofEpochSecond((Long) Json.at(CASES, "/now"));
            if (row.get("right").equals(true)) {
                assertEquals(Map.of("id", "evt_1"), webhook.verify(name -> (String) headers.get(name), body, now));
            } else {
                assertThrows(WebhookException.class, () -> webhook.verify(name -> (String) headers.get(name), body, now));
            }
        });
    }

    @Test
    void aTextThatIsNoJsonIsRefused() {
        for (String text : List.of("{\"a\":\"\\x\"}", "\"\\u+123\"", "\"\\u12\"", "\"\u0001\"", "[01]", "[-]", "[1,]", "{,}", "{\"a\" 1}", "", "tru")) {
            assertThrows(IllegalArgumentException.class, () -> Json.parse(text), text);
        }
        assertEquals(List.of("/\"\\\b\f\n\r\té"), Json.parse("[\"\\/\\\"\\\\\\b\\f\\n\\r\\t\\u00e9\"]"));
        assertEquals(List.of(0L, new BigDecimal("-0.5"), new BigDecimal("1e3")), Json.parse("[0,-0.5,1e3]"));
    }

    @Test
    void timesAreSentAsTheApiWritesThem() throws IOException {
        Instant at = Instant.parse("2026-01-31T12:30:00Z");
        Object[] times = {at, at.atZone(ZoneId.of("Europe/Paris")), at.atOffset(ZoneOffset.UTC), Date.from(at), LocalDate.of(2026, 1, 31)};
        assertEquals("[\"2026-01-31T12:30:00Z\",\"2026-01-31T13:30:00+01:00\",\"2026-01-31T12:30:00Z\",\"2026-01-31T12:30:00Z\",\"2026-01-31\"]", Json.write(times));
        try (Stub stub = new Stub()) {
            new Client(stub.url(), "test_key").get("/list", Map.of("at", Date.from(at)));
            assertEquals("/list?at=2026-01-31T12%3A30%3A00Z", stub.requests.get(0).target());
        }
    }

    @Test
    void aBodyThatJsonCannotExpressIsNotSent() {
        Client client = new Client("http://127.0.0.1:9", "test_key");
        assertThrows(IllegalArgumentException.class, () -> client.post("/", Map.of("amount", Double.NaN)));
        assertThrows(IllegalArgumentException.class, () -> Json.write(List.of(Float.NEGATIVE_INFINITY)));
    }

    @Test
    void arraysAndOptionalsAreWrittenAsTheirValues() {
        Object[] values = {new String[] {"a", null}, new int[] {1, 2}, new Object[0], Optional.of("b"), Optional.empty(), 1.5};
        assertEquals("[[\"a\",null],[1,2],[],\"b\",null,1.5]", Json.write(values));
        assertEquals("1e+400", Json.write(new BigDecimal("1e400")).toLowerCase(Locale.ROOT));
    }

    @Test
    void anArrayInAQueryIsAList() throws IOException {
        try (Stub stub = new Stub()) {
            new Client(stub.url(), "test_key").get("/list", Map.of("status", new String[] {"draft", "paid"}));
            assertEquals("/list?status=draft&status=paid", stub.requests.get(0).target());
        }
    }
}
