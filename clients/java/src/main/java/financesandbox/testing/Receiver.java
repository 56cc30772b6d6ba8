package financesandbox.testing;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import financesandbox.Webhook;
import financesandbox.WebhookException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;

/** A local receiver. It checks every signature and refuses a delivery that is not signed with its secret. */
public final class Receiver implements AutoCloseable {
    private final HttpServer server;
    private final String secret;
    private final List<Map<String, Object>> events = new ArrayList<>();
    private final List<String> refused = new ArrayList<>();
    private int status = 204;

    Receiver() {
        byte[] random = new byte[24];
        new SecureRandom().nextBytes(random);
        secret = "whsec_" + Base64.getEncoder().encodeToString(random);
        try {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
        server.createContext("/", this::receive);
        // The thread of the server is a daemon like the thread that starts it. So an open receiver does not keep the process.
        Thread starter = new Thread(server::start);
        starter.setDaemon(true);
        starter.start();
    }

    public String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort() + "/";
    }

    public String secret() {
        return secret;
    }

    /** The deliveries with a right signature. */
    public synchronized List<Map<String, Object>> events() {
        return List.copyOf(events);
    }

    /** Why deliveries were refused. */
    public synchronized List<String> refused() {
        return List.copyOf(refused);
    }

    /** Sets the status of its answers. */
    public synchronized void answer(int status) {
        this.status = status;
    }

    private void receive(HttpExchange exchange) throws IOException {
        try (exchange) {
            byte[] body = exchange.getRequestBody().readAllBytes();
            exchange.sendResponseHeaders(keep(exchange, body), -1);
        }
    }

    private synchronized int keep(HttpExchange exchange, byte[] body) {
        notifyAll();
        try {
            events.add(new Webhook(secret).verify(exchange.getRequestHeaders()::getFirst, body));
            return status;
        } catch (WebhookException wrong) {
            refused.add(wrong.getMessage());
            return 400;
        }
    }

    /** The first event of this type that arrived, or arrives within ten seconds. */
    public Map<String, Object> waitFor(String type) {
        return waitFor(type, Duration.ofSeconds(10));
    }

    /** The first event of this type that arrived or arrives in time. */
    public synchronized Map<String, Object> waitFor(String type, Duration timeout) {
        long limit = System.nanoTime() + timeout.toNanos();
        while (true) {
            for (Map<String, Object> event : events) {
                if (type.equals(event.get("type"))) {
                    return event;
                }
            }
            long left = (limit - System.nanoTime()) / 1_000_000;
            if (left <= 0) {
                List<Object> types = events.stream().map(event -> event.get("type")).distinct().toList();
                throw new AssertionError(type + " did not arrive in " + timeout + "; received: " + types + "; refused: " + refused.size());
            }
            try {
                wait(left);
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
                throw new AssertionError(interrupted);
            }
        }
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
