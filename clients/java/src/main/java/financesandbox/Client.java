package financesandbox;

import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** A thin client: it implements the conventions of the API, and no single operation. It has no dependencies. */
public final class Client {
    private static final HttpClient HTTP = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    private static final Pattern JSON = Pattern.compile("^[^;]*[/+]json\\s*(;|$)", Pattern.CASE_INSENSITIVE);
    private static final Pattern FOREIGN = Pattern.compile("%(?![0-9A-Fa-f]{2})|[^-A-Za-z0-9._~!$&()*+,/:;=?@%]+");

    private final String baseUrl;
    private final String apiKey;
    private final int retries;
    private final Duration timeout;

    /** With three retries, and a time limit of 30 seconds for each attempt. In the sandbox the key selects the world. */
    public Client(String baseUrl, String apiKey) {
        this(baseUrl, apiKey, 3, Duration.ofSeconds(30));
    }

    public Client(String baseUrl, String apiKey, int retries, Duration timeout) {
        this.baseUrl = baseUrl.replaceAll("/+$", "");
        this.apiKey = apiKey;
        this.retries = retries;
        this.timeout = timeout;
    }

    public Reply get(String path) {
        return get(path, Map.of());
    }

    public Reply get(String path, Map<String, ?> query) {
        return request("GET", path, null, query, Map.of());
    }

    public Reply post(String path, Object body) {
        return request("POST", path, body, Map.of(), Map.of());
    }

    /** The bytes of a PDF. */
    public byte[] pdf(String path) {
        return request("GET", path, null, Map.of(), Map.of("Accept", "application/pdf")).content();
    }

    /** The items of a list, one page at a time. */
    public Iterable<Map<String, Object>> paginate(String path, Map<String, ?> query) {
        return () -> new Pages(this, path, query);
    }

    /** Sends a request. A POST has an Idempotency-Key, which is the same in every retry; {@code headers} may set it. */
    public Reply request(String verb, String path, Object body, Map<String, ?> query, Map<String, String> headers) {
        String method = verb.toUpperCase(Locale.ROOT);
        // A list repeats the name; null is left out.
        String parameters = query.entrySet().stream()
            .flatMap(one -> Json.items(one.getValue()).stream().filter(Objects::nonNull).map(item -> encoded(one.getKey()) + "=" + encoded(item)))
            .collect(Collectors.joining("&"));
        Map<String, String> sent = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        sent.putAll(Map.of("Authorization", "Bearer " + apiKey, "Accept", "application/json"));
        if (body != null) {
            sent.put("Content-Type", "application/json");
        }
        sent.putAll(headers);
        if (method.equals("POST") && sent.getOrDefault("Idempotency-Key", "").isBlank()) {
            sent.put("Idempotency-Key", UUID.randomUUID().toString());
        }
        URI uri = URI.create(baseUrl + target(path) + (parameters.isEmpty() ? "" : (path.contains("?") ? "&" : "?") + parameters));
        HttpRequest.Builder builder = HttpRequest.newBuilder(uri);
        sent.forEach(builder::header);
        builder.method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(Json.write(body)));
        for (int attempt = 0; ; attempt++) {
            try {
                return exchange(builder.build());
            } catch (Problem problem) {
                // A PATCH has no idempotency key: without an answer of the API, the client cannot know whether it took effect.
                boolean unsafe = method.equals("PATCH") && !problem.explicit;
                if (!problem.retryable || unsafe || attempt >= retries || problem.retryAfter > 60) {
                    throw problem;
                }
                long backoff = Math.min(100L << Math.min(attempt, 5), 2_000);
                pause(problem.retryAfter > 0 ? problem.retryAfter * 1_000 : ThreadLocalRandom.current().nextLong(backoff / 2, backoff));
            }
        }
    }

    private Reply exchange(HttpRequest request) {
        String call = request.method() + " " + request.uri().getPath() + ": ";
        HttpResponse<byte[]> reply;
        // The timeout of a request would end with the headers of the reply.
        CompletableFuture<HttpResponse<byte[]>> pending = HTTP.sendAsync(request, BodyHandlers.ofByteArray());
        try {
            reply = pending.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException | TimeoutException lost) {
            pending.cancel(true);
            Throwable cause = lost instanceof ExecutionException ? lost.getCause() : lost;
            throw new Problem(0, Map.of("code", "no_reply", "detail", call + cause), 0, cause);
        } catch (InterruptedException interrupted) {
            pending.cancel(true);
            Thread.currentThread().interrupt();
            throw new Problem(0, Map.of("code", "interrupted", "detail", call + interrupted, "retryable", false), 0, interrupted);
        }
        int status = reply.statusCode();
        String text = new String(reply.body(), StandardCharsets.UTF_8); // what is not UTF-8 is replaced
        boolean hasContent = !request.method().equals("HEAD") && status != 204 && status != 304;
        Object json = null;
        if (hasContent && JSON.matcher(reply.headers().firstValue("Content-Type").orElse("")).find()) {
            try {
                json = Json.parse(reply.body());
            } catch (IllegalArgumentException wrong) {
                if (status < 300) {
                    throw new Problem(0, Map.of("code", "invalid_reply", "detail", call + "the body is not JSON"), 0, wrong);
                }
            }
        }
        if (status < 300 || status == 304) {
            return new Reply(status, reply.headers(), reply.body(), json);
        }
        if (status < 400) {
            String detail = call + "the reply redirects to " + reply.headers().firstValue("Location").orElse("");
            throw new Problem(status, Map.of("code", "redirect", "detail", detail), 0, null);
        }
        Map<?, ?> body = Json.at(json, "/error") instanceof Map<?, ?> error ? error : json instanceof Map<?, ?> map ? map : Map.of("detail", text);
        throw new Problem(status, body, Problem.seconds(reply.headers().firstValue("Retry-After").orElse("")), null, text);
    }

    private static String encoded(Object value) {
        return URLEncoder.encode(String.valueOf(Json.plain(value)), StandardCharsets.UTF_8);
    }

    /** The path and its query, with everything encoded that a URL does not have. What is encoded stays. */
    private static String target(String path) {
        String encoded = FOREIGN.matcher(path)
            .replaceAll(one -> URLEncoder.encode(one.group(), StandardCharsets.UTF_8).replace("+", "%20"));
        return encoded.startsWith("/") ? encoded : "/" + encoded;
    }

    private static void pause(long milliseconds) {
        try {
            Thread.sleep(milliseconds);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt(); // the next attempt ends at once
        }
    }
}
