package financesandbox;

/** A delivery whose signature, time or body is wrong. */
public final class WebhookException extends Exception {
    private static final long serialVersionUID = 1;

    WebhookException(String message) {
        super(message);
    }
}
