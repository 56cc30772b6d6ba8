package financesandbox.testing;

import financesandbox.Client;
import financesandbox.Json;
import financesandbox.Problem;
import financesandbox.Reply;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** The world of one test. */
public final class World implements AutoCloseable {
    private final Sandbox sandbox;
    private final String key;
    private final Client client;
    private final Client tools;
    private final List<Receiver> receivers = new ArrayList<>();
    private final List<World> forks = new ArrayList<>();
    private final List<String> misses = new ArrayList<>();

    World(Sandbox sandbox, String key) {
        this.sandbox = sandbox;
        this.key = key;
        client = new Client(sandbox.url(), key);
        // Never repeated: the control plane has no idempotency keys.
        tools = new Client(sandbox.url(), key, 0, Duration.ofMinutes(2));
    }

    /** A client of this world, for the code under test. */
    public Client client() {
        return client;
    }

    public String key() {
        return key;
    }

    public String url() {
        return sandbox.url();
    }

    /** Calls a route below {@code /_sandbox}. */
    public Reply control(String method, String path, Object body) {
        return control(method, path, body, Map.of());
    }

    private Reply control(String method, String path, Object body, Map<String, ?> query) {
        try {
            return tools.request(method, "/_sandbox" + path, body, query, Map.of());
        } catch (Problem lost) {
            String ending = lost.status == 0 ? sandbox.ending() : null;
            if (ending == null) {
                throw lost;
            }
            String detail = lost.detail + "; the sandbox has ended with " + ending;
            throw new Problem(0, Map.of("code", lost.code, "detail", detail), 0, lost);
        }
    }

    /** Advances the clock, by a duration such as {@code 10d} or {@code 2bd}. */
    public Reply advance(String by) {
        return control("POST", "/clock/advance", Map.of("by", by));
    }

    /** Starts the world again with a scenario. */
    public Reply scenario(String name) {
        return control("POST", "/scenarios/" + name + "/load", null);
    }

    public Reply fault(Map<String, ?> row) {
        return control("POST", "/faults", row);
    }

    public Reply rule(Map<String, ?> row) {
        return control("POST", "/rules", row);
    }

    /** At most 100 events; the query filters them. */
    public List<Map<String, Object>> events(Map<String, ?> query) {
        return rows("/events", query);
    }

    /** At most 100 deliveries of webhooks; the query filters them. */
    public List<Map<String, Object>> deliveries(Map<String, ?> query) {
        return rows("/deliveries", query);
    }

    private List<Map<String, Object>> rows(String path, Map<String, ?> query) {
        Map<String, Object> asked = new HashMap<>(Map.of("per_page", 100));
        asked.putAll(query);
        return Json.objects(control("GET", path, null, asked).at("/data"));
    }

    /** Verifies calls (operation), events (type) or deliveries (event_type); an AssertionError unless the verdict is pass. */
    public void verify(Map<String, ?> row) {
        String kind = row.containsKey("operation") ? "requests" : row.containsKey("event_type") ? "deliveries" : "events";
        Reply verdict = control("POST", "/" + kind + "/verify", row);
        if (!"pass".equals(verdict.at("/data/verdict"))) {
            String miss = kind + " " + Json.write(row) + ": " + verdict.at("/data/verdict") + ", matched " + verdict.at("/data/matched")
                + ", nearest " + Json.write(verdict.at("/data/nearest"));
            misses.add(miss);
            throw new AssertionError(miss);
        }
    }

    public String snapshot() {
        return control("POST", "/snapshots", Map.of()).at("/data/id");
    }

    public Reply restore(String snapshot) {
        return control("POST", "/snapshots/" + snapshot + "/restore", null);
    }

    /** Another world with a copy of this one, which closes with it. */
    public World fork() {
        World copy = new World(sandbox, Sandbox.forkKey(key));
        control("POST", "/snapshots/" + snapshot() + "/fork", Map.of("key", copy.key));
        forks.add(copy);
        return copy;
    }

    /** A local receiver of the webhooks of these types, by default of all. */
    public Receiver receiver(String... events) {
        Receiver receiver = new Receiver();
        receivers.add(receiver);
        Map<String, Object> endpoint = new HashMap<>(Map.of("url", receiver.url(), "secret", receiver.secret()));
        if (events.length > 0) {
            endpoint.put("events", List.of(events));
        }
        control("POST", "/webhook-endpoints", endpoint);
        return receiver;
    }

    /** What happened in this world: the last events, decisions and refused calls, and the near misses of verify. */
    public String report() {
        return "world " + key + " of " + url()
            + section("last events", "/events", one -> one.get("timestamp") + " " + one.get("type") + " " + Json.at(one, "/data/object/id"))
            + section("last decisions", "/decisions", one -> one.get("at") + " " + one.get("decision") + "=" + one.get("chosen") + " by "
                + (one.get("source") == null ? one.get("why") : one.get("source")) + " " + one.get("subject_id"))
            + section("refused calls", "/requests", one -> one.get("status") instanceof Long status && status >= 400
                ? one.get("method") + " " + one.get("path") + " " + status + " " + one.get("error") : null)
            + "\nnear misses:" + (misses.isEmpty() ? " none" : "\n  " + String.join("\n  ", misses));
    }

    private String section(String title, String path, Function<Map<String, Object>, String> line) {
        Map<String, Object> last = new HashMap<>(Map.of("per_page", 1));
        if (path.equals("/events")) {
            last.put("sort", "sequence"); // only events come newest first
        }
        long total = control("GET", path, null, last).<Long>at("/meta/total");
        last.putAll(Map.of("per_page", 30, "page", Math.max(1, (total + 29) / 30)));
        List<String> lines = rows(path, last).stream().map(line).filter(one -> one != null).toList();
        return "\n" + title + ":" + (lines.isEmpty() ? " none" : "\n  " + String.join("\n  ", lines));
    }

    @Override
    public void close() {
        receivers.forEach(Receiver::close);
        forks.forEach(World::close);
    }
}
