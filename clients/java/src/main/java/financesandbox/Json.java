package financesandbox;

import java.lang.reflect.Array;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.OffsetDateTime;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.temporal.TemporalAccessor;
import java.util.ArrayList;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** JSON as plain objects: Map, List, String, Long, BigDecimal, Boolean and null. Java has no JSON of its own. */
public final class Json {
    /** A document with more levels would use up the stack. */
    private static final int MAX_DEPTH = 512;

    private final String text;
    private int at;
    private int depth;

    private Json(String text) {
        this.text = text;
    }

    /** Parses a document in UTF-8, or throws IllegalArgumentException. */
    static Object parse(byte[] document) {
        try {
            return parse(StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(document)).toString());
        } catch (CharacterCodingException wrong) {
            throw new IllegalArgumentException("the document is not UTF-8", wrong);
        }
    }

    /** Parses a text, or throws IllegalArgumentException. */
    public static Object parse(String text) {
        Json json = new Json(text);
        Object value = json.value();
        if (json.peek() != 0) {
            throw json.unexpected();
        }
        return value;
    }

    /** The value at a JSON pointer such as {@code /data/0/id}; null if there is none. */
    public static Object at(Object value, String pointer) {
        for (String name : pointer.split("/", -1)) {
            if (name.isEmpty()) {
                continue;
            }
            if (value instanceof Map<?, ?> map) {
                value = map.get(name.replace("~1", "/").replace("~0", "~"));
            } else if (value instanceof List<?> list && name.matches("\\d{1,9}") && Integer.parseInt(name) < list.size()) {
                value = list.get(Integer.parseInt(name));
            } else {
                return null;
            }
        }
        return value;
    }

    /** The objects of a list; none of anything else. */
    @SuppressWarnings("unchecked")
    public static List<Map<String, Object>> objects(Object list) {
        List<Map<String, Object>> found = new ArrayList<>();
        if (list instanceof List<?> items) {
            items.stream().filter(Map.class::isInstance).forEach(item -> found.add((Map<String, Object>) item));
        }
        return found;
    }

    /** Times as the API writes them. */
    static Object plain(Object value) {
        if (value instanceof Date date) {
            return date.toInstant();
        }
        boolean hasOffset = value instanceof ZonedDateTime || value instanceof OffsetDateTime; // their texts can have no seconds
        return hasOffset ? DateTimeFormatter.ISO_OFFSET_DATE_TIME.format((TemporalAccessor) value) : value;
    }

    /** The items of an iterable or an array; of anything else, the value itself. */
    static List<Object> items(Object value) {
        List<Object> items = new ArrayList<>();
        if (value instanceof Iterable<?> iterable) {
            iterable.forEach(items::add);
        } else if (value != null && value.getClass().isArray()) {
            for (int index = 0; index < Array.getLength(value); index++) {
                items.add(Array.get(value, index));
            }
        } else {
            items.add(value);
        }
        return items;
    }

    /**
     * Writes maps, iterables, arrays, optionals, texts, numbers, truth values and null; of any other object its text. Throws
     * IllegalArgumentException for NaN and infinity, which JSON does not have.
     */
    public static String write(Object value) {
        if (value instanceof Map<?, ?> map) {
            List<String> members = new ArrayList<>();
            map.forEach((name, member) -> members.add(write(name.toString()) + ":" + write(member)));
            return "{" + String.join(",", members) + "}";
        }
        if (value instanceof Iterable || value != null && value.getClass().isArray()) {
            return items(value).stream().map(Json::write).collect(Collectors.joining(",", "[", "]"));
        }
        if (value instanceof Optional<?> optional) {
            return write(optional.orElse(null));
        }
        if (value instanceof Date || value instanceof ZonedDateTime || value instanceof OffsetDateTime) {
            return write(plain(value));
        }
        if ((value instanceof Double || value instanceof Float) && !Double.isFinite(((Number) value).doubleValue())) {
            throw new IllegalArgumentException("JSON does not have " + value);
        }
        if (value == null || value instanceof Number || value instanceof Boolean) {
            return String.valueOf(value);
        }
        StringBuilder out = new StringBuilder("\"");
        for (char one : value.toString().toCharArray()) {
            if (one == '"' || one == '\\') {
                out.append('\\').append(one);
            } else if (one < ' ') {
                out.append(String.format("\\u%04x", (int) one));
            } else {
                out.append(one);
            }
        }
        return out.append('"').toString();
    }

    private Object value() {
        if (++depth > MAX_DEPTH) {
            throw unexpected();
        }
        try {
            return nested();
        } finally {
            depth--;
        }
    }

    private Object nested() {
        switch (peek()) {
            case '{':
                Map<String, Object> map = new LinkedHashMap<>();
                for (char next = open('}'); next != '}'; next = after('}')) {
                    String name = string();
                    expect(':');
                    map.put(name, value());
                }
                return map;
            case '[':
                List<Object> list = new ArrayList<>();
                for (char next = open(']'); next != ']'; next = after(']')) {
                    list.add(value());
                }
                return list;
            case '"':
                return string();
            default:
                return word();
        }
    }

    private Object word() {
        int start = at;
        while (at < text.length() && ",]} \t\r\n".indexOf(text.charAt(at)) < 0) {
            at++;
        }
        String word = text.substring(start, at);
        switch (word) {
            case "null":
                return null;
            case "true":
            case "false":
                return Boolean.valueOf(word);
            default:
                if (!word.matches("-?(0|[1-9]\\d*)(\\.\\d+)?([eE][+-]?\\d+)?")) {
                    throw unexpected();
                }
                return word.matches("-?\\d{1,18}") ? (Object) Long.valueOf(word) : new BigDecimal(word);
        }
    }

    private String string() {
        expect('"');
        StringBuilder out = new StringBuilder();
        while (at < text.length()) {
            char one = text.charAt(at++);
            if (one == '"') {
                return out.toString();
            }
            if (one < ' ') {
                throw unexpected();
            }
            out.append(one == '\\' ? escaped() : one);
        }
        throw unexpected();
    }

    private char escaped() {
        char one = at < text.length() ? text.charAt(at++) : 0;
        if (one == 'u' && text.substring(at, Math.min(at + 4, text.length())).matches("[0-9A-Fa-f]{4}")) {
            return (char) Integer.parseInt(text.substring(at, at += 4), 16);
        }
        int place = "\"\\/bfnrt".indexOf(one);
        if (place < 0) {
            throw unexpected();
        }
        return "\"\\/\b\f\n\r\t".charAt(place);
    }

    private char open(char end) {
        at++;
        return peek() == end ? text.charAt(at++) : ',';
    }

    private char after(char end) {
        char next = peek();
        if (next != ',' && next != end) {
            throw unexpected();
        }
        at++;
        return next;
    }

    private void expect(char wanted) {
        if (peek() != wanted) {
            throw unexpected();
        }
        at++;
    }

    private char peek() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        return at < text.length() ? text.charAt(at) : 0;
    }

    private IllegalArgumentException unexpected() {
        return new IllegalArgumentException("no JSON at character " + at);
    }
}
