package financesandbox;

import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Queue;

/** The items of a list. A page is read when its first item is wanted. */
final class Pages implements Iterator<Map<String, Object>> {
    private final Client client;
    private final String path;
    private final Map<String, Object> query;
    private final boolean isFromStart;
    private final Queue<Map<String, Object>> items = new ArrayDeque<>();
    private int page;
    private long seen;
    private boolean isLast;

    Pages(Client client, String path, Map<String, ?> query) {
        this.client = client;
        this.path = path;
        this.query = new LinkedHashMap<>(query);
        isFromStart = query.get("page") == null;
        page = isFromStart ? 1 : Integer.parseInt(String.valueOf(query.get("page")));
    }

    @Override
    public boolean hasNext() {
        while (items.isEmpty() && !isLast) {
            read();
        }
        return !items.isEmpty();
    }

    @Override
    public Map<String, Object> next() {
        if (!hasNext()) {
            throw new NoSuchElementException();
        }
        return items.remove();
    }

    private void read() {
        query.put("page", page++);
        Reply reply = client.get(path, query);
        Object data = reply.at("/data");
        if (!(data instanceof List<?> list)) {
            throw new Problem(0, Map.of("code", "invalid_reply", "detail", "GET " + path + ": the reply is not a list", "retryable", false), 0, null);
        }
        items.addAll(Json.objects(list));
        seen += list.size();
        Object total = reply.at("/meta/total");
        isLast = list.isEmpty() || isFromStart && total instanceof Long && seen >= (Long) total;
    }
}
