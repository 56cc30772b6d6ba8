package financesandbox;

import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** A refusal of the API (RFC 9457), or a reply that cannot be read ({@code status} 0). */
public final class Problem extends RuntimeException {
    private static final long serialVersionUID = 1;
    private static final Set<Integer> RETRYABLE = Set.of(0, 408, 429, 502, 503, 504);

    /** The HTTP status. */
    public final int status;
    /** Such as {@code validation_failed}. */
    public final String code;
    /** What is wrong. */
    public final String detail;
    /** The id of the request, or null. */
    public final String requestId;
    /** Whether the same request can succeed later. */
    public final boolean retryable;
    /** Whether the API itself says so. */
    final boolean explicit;
    /** Seconds of the header {@code Retry-After}; 0 without it. */
    public final long retryAfter;
    /** The refusal; {@code detail} is the text of one that is not a JSON object. */
    public final transient Map<?, ?> body;
    /** Each violation with {@code pointer}, {@code code} and {@code detail}. */
    public final transient List<Map<String, Object>> errors;

    /** A body has the members {@code code}, {@code detail} and {@code retryable}, among others. */
    public Problem(int status, Map<?, ?> body, long retryAfter, Throwable cause) {
        this(status, body, retryAfter, cause, "");
    }

    /** The text of the reply is the detail of a refusal without one. */
    Problem(int status, Map<?, ?> body, long retryAfter, Throwable cause, String whole) {
        super(message(status, body, whole), cause);
        this.status = status;
        this.body = body;
        this.retryAfter = retryAfter;
        code = text(body, "/code", "unknown");
        detail = detail(body, whole);
        requestId = text(body, "/request_id", null);
        errors = Json.objects(Json.at(body, "/errors"));
        explicit = Json.at(body, "/retryable") instanceof Boolean;
        retryable = Json.at(body, "/retryable") instanceof Boolean said ? said : RETRYABLE.contains(status);
    }

    /** The seconds of a Retry-After, which is a number or a date. */
    static long seconds(String retryAfter) {
        if (retryAfter.matches("\\d+")) {
            return retryAfter.length() > 9 ? Integer.MAX_VALUE : Long.parseLong(retryAfter);
        }
        try {
            Instant date = DateTimeFormatter.RFC_1123_DATE_TIME.parse(retryAfter, Instant::from);
            return Math.max(0, Duration.between(Instant.now(), date).toSeconds() + 1);
        } catch (DateTimeParseException none) {
            return 0;
        }
    }

    private static String detail(Object body, String whole) {
        return text(body, "/detail", text(body, "/title", whole.isEmpty() ? "no detail" : whole));
    }

    private static String message(int status, Object body, String whole) {
        String places = Json.objects(Json.at(body, "/errors")).stream()
            .map(error -> "\n  " + error.get("pointer") + ": " + error.get("detail"))
            .collect(Collectors.joining());
        return status + " " + text(body, "/code", "unknown") + ": " + detail(body, whole) + places;
    }

    private static String text(Object body, String pointer, String fallback) {
        return Json.at(body, pointer) instanceof String found ? found : fallback;
    }
}
