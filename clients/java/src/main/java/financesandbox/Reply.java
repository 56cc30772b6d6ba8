package financesandbox;

import java.net.http.HttpHeaders;

/** A success: its status, headers and content. */
public record Reply(int status, HttpHeaders headers, byte[] content, Object json) {
    /** The value at a JSON pointer such as {@code /data/0/id}; null if there is none. */
    @SuppressWarnings("unchecked")
    public <T> T at(String pointer) {
        return (T) Json.at(json, pointer);
    }

    /** A header, or an empty text. */
    public String header(String name) {
        return headers.firstValue(name).orElse("");
    }
}
