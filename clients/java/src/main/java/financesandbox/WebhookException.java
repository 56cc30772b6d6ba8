package financesandbox;

/** A delivery whose signature or time is wrong. */
public final class WebhookException extends Exception {
    private static final long serialVersionUID = 1;

    WebhookException(String message) {
        super(message);
    }
}
