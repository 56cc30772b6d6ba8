package financesandbox;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Checks deliveries by Standard Webhooks. It has one secret, or several while a secret is replaced. */
public record Webhook(List<String> secrets, Duration tolerance) {
    /** With a tolerance of five minutes. */
    public Webhook(String... secrets) {
        this(List.of(secrets), Duration.ofMinutes(5));
    }

    /** Returns the event of a delivery. The body is the bytes as received; {@code header} returns a header or null. */
    public Map<String, Object> verify(UnaryOperator<String> header, byte[] body) throws WebhookException {
        return verify(header, body, Instant.now());
    }

    Map<String, Object> verify(UnaryOperator<String> header, byte[] body, Instant now) throws WebhookException {
        String timestamp = header.apply("webhook-timestamp");
        if (timestamp == null || !timestamp.matches("\\d{1,12}")) {
            throw new WebhookException("webhook-timestamp is missing or no number");
        }
        if (Math.abs(now.getEpochSecond() - Long.parseLong(timestamp)) > tolerance.toSeconds()) {
            throw new WebhookException("webhook-timestamp is too old or in the future");
        }
        String signatures = header.apply("webhook-signature");
        String id = header.apply("webhook-id");
        if (id == null || id.isEmpty()) {
            throw new WebhookException("webhook-id is missing");
        }
        for (String secret : secrets) {
            byte[] wanted = ("v1," + sign(key(secret), id + "." + timestamp + ".", body)).getBytes(StandardCharsets.UTF_8);
            for (String given : (signatures == null ? "" : signatures).split("\\s+")) {
                if (MessageDigest.isEqual(wanted, given.getBytes(StandardCharsets.UTF_8))) {
                    return event(body);
                }
            }
        }
        throw new WebhookException("webhook-signature is wrong");
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> event(byte[] body) throws WebhookException {
        try {
            if (Json.parse(body) instanceof Map<?, ?> event) {
                return (Map<String, Object>) event;
            }
        } catch (IllegalArgumentException wrong) {
            // refused below, as a body of another type
        }
        throw new WebhookException("the body is no JSON object");
    }

    private static SecretKeySpec key(String secret) throws WebhookException {
        String coded = secret.replaceFirst("^whsec_", "");
        byte[] key = {};
        try {
            key = Base64.getDecoder().decode(coded);
        } catch (IllegalArgumentException wrong) {
            // refused below
        }
        // With an empty key, anyone could sign. The decoder accepts a secret without padding.
        if (key.length == 0 || !Base64.getEncoder().encodeToString(key).equals(coded)) {
            throw new WebhookException("the secret is empty or not base64");
        }
        return new SecretKeySpec(key, "HmacSHA256");
    }

    private static String sign(SecretKeySpec key, String head, byte[] body) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(key);
            mac.update(head.getBytes(StandardCharsets.UTF_8));
            return Base64.getEncoder().encodeToString(mac.doFinal(body));
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
