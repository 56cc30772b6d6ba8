package financesandbox;

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
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

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

    /** Answers each request with the bytes of a reply, and keeps the head of the request. */
    private static final class Stub implements AutoCloseable {
        final List<List<String>> heads = new CopyOnWriteArrayList<>();
        final ServerSocket listener = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());

        Stub(String reply, boolean slow) throws IOException {
            Thread thread = new Thread(() -> {
                while (!listener.isClosed()) {
                    try (Socket socket = listener.accept()) {
                        answer(socket, reply, slow);
                    } catch (IOException | InterruptedException ended) {
                        // the client does not wait for the rest, or the test has ended
                    }
                }
            });
            thread.setDaemon(true);
            thread.start();
        }

        private void answer(Socket socket, String reply, boolean slow) throws IOException, InterruptedException {
            BufferedReader reader = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1));
            List<String> head = new ArrayList<>();
            int length = 0;
            for (String line = reader.readLine(); line != null && !line.isEmpty(); line = reader.readLine()) {
                head.add(line);
                length = line.toLowerCase(Locale.ROOT).startsWith("content-length: ") ? Integer.parseInt(line.substring(16)) : length;
            }
            for (; length > 0; length--) {
                reader.read();
            }
            heads.add(head);
            int start = reply.indexOf("\r\n\r\n") + 4;
            OutputStream out = socket.getOutputStream();
            out.write(reply.substring(0, start).getBytes(StandardCharsets.UTF_8));
            for (byte one : reply.substring(start).getBytes(StandardCharsets.UTF_8)) {
                out.write(one);
                Thread.sleep(slow ? 100 : 0);
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

    @TestFactory
    Stream<DynamicTest> replies() {
        return each("replies", row -> {
            try (Stub stub = new Stub((String) row.get("reply"), row.containsKey("slow"))) {
                Client client = new Client(stub.url(), "test_key", 0, Duration.ofSeconds(1));
                int status = ((Long) row.get("status")).intValue();
                if (row.containsKey("problem")) {
                    Map<String, Object> expected = map(row, "problem");
                    Problem problem = assertThrows(Problem.class, () -> client.request((String) row.get("method"), "/", null, Map.of(), Map.of()));
                    assertEquals(List.of(status, expected.get("code"), expected.get("retryable")), List.of(problem.status, problem.code, problem.retryable));
                    assertTrue(problem.detail.contains((String) expected.get("detail")), problem.detail);
                    assertEquals(problem.detail, problem.body.get("detail"));
                } else {
                    Reply reply = client.request((String) row.get("method"), "/", null, Map.of(), Map.of());
                    assertEquals(List.of(status, 0), List.of(reply.status(), reply.content().length));
                }
                assertEquals(1, stub.heads.size());
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
            try (Stub stub = new Stub("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n", false)) {
                String method = (String) row.get("method");
                Object body = method.equals("POST") ? Map.of() : null;
                Client client = new Client(stub.url(), "test_key", 0, Duration.ofSeconds(5));
                client.request(method, (String) row.get("path"), body, map(row, "query"), map(row, "headers"));
                List<String> head = stub.heads.get(0);
                assertEquals(row.get("target"), head.get(0).split(" ")[1]);
                map(row, "sent").forEach((name, value) -> {
                    Stream<String> lines = head.stream().filter(line -> line.toLowerCase(Locale.ROOT).startsWith(name + ": "));
                    assertEquals(List.of(value), lines.map(line -> line.substring(name.length() + 2)).toList());
                });
            }
        });
    }

    @TestFactory
    Stream<DynamicTest> webhooks() {
        return each("webhooks", row -> {
            Map<String, Object> headers = Map.of("webhook-id", "evt_1", "webhook-timestamp", row.get("timestamp"), "webhook-signature", row.get("signature"));
            Webhook webhook = new Webhook((String) row.get("secret"));
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
        try (Stub stub = new Stub("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n", false)) {
            new Client(stub.url(), "test_key").get("/list", Map.of("status", new String[] {"draft", "paid"}));
            assertEquals("GET /list?status=draft&status=paid HTTP/1.1", stub.heads.get(0).get(0));
        }
    }
}
