<?php

declare(strict_types=1);

namespace FinanceSandbox;

/** A thin client: it implements the conventions of the API, and no single operation. It needs only `ext-curl`. */
final class Client
{
    public readonly string $baseUrl;

    /**
     * @param string $apiKey in the sandbox it selects the world
     * @param int $retries after the first attempt
     * @param int|float $timeout seconds for each attempt
     * @param array<string, string> $headers of every request
     */
    public function __construct(
        string $baseUrl = 'http://127.0.0.1:4747',
        public readonly string $apiKey = 'test_key',
        private readonly int $retries = 3,
        private readonly int|float $timeout = 30,
        private readonly array $headers = [],
    ) {
        $this->baseUrl = rtrim($baseUrl, '/');
    }

    /** @param array<string, mixed> $query */
    public function get(string $path, array $query = []): Reply
    {
        return $this->request('GET', $path, query: $query);
    }

    /** An empty array is sent as `{}`. An empty object within a body is `new \stdClass()`. */
    public function post(string $path, mixed $body = null, ?string $idempotencyKey = null): Reply
    {
        return $this->request('POST', $path, $body, idempotencyKey: $idempotencyKey);
    }

    /** The bytes of a PDF. */
    public function pdf(string $path): string
    {
        return $this->request('GET', $path, headers: ['Accept' => 'application/pdf'])->body;
    }

    /**
     * The items of a list, one page at a time.
     *
     * @param array<string, mixed> $query
     * @return \Generator<int, array<string, mixed>>
     */
    public function paginate(string $path, array $query = []): \Generator
    {
        for ($page = (int) ($query['page'] ?? 1), $seen = 0; ; $page++) {
            $body = $this->get($path, ['page' => $page] + $query)->body;
            $items = is_array($body) ? $body['data'] ?? null : null;
            if (!is_array($items) || !array_is_list($items)) {
                throw new Problem(0, ['code' => 'invalid_reply', 'detail' => "GET $path: the reply is not a list", 'retryable' => false]);
            }
            foreach ($items as $item) {
                yield $item;
            }
            $seen += count($items);
            $total = is_array($body['meta'] ?? null) ? $body['meta']['total'] ?? null : null;
            if ($items === [] || (!isset($query['page']) && $total !== null && $seen >= $total)) {
                return;
            }
        }
    }

    /**
     * Sends a request. A POST has an `Idempotency-Key`, which is the same in every retry.
     *
     * @param array<string, mixed> $query
     * @param array<string, string> $headers
     */
    public function request(
        string $method,
        string $path,
        mixed $body = null,
        array $query = [],
        array $headers = [],
        ?string $idempotencyKey = null,
    ): Reply {
        $method = strtoupper($method);
        $parameters = self::parameters($query);
        $url = $this->baseUrl . self::target($path) . ($parameters === '' ? '' : (str_contains($path, '?') ? '&' : '?') . $parameters);
        $sent = ['authorization' => "Bearer $this->apiKey", 'accept' => 'application/json', 'expect' => ''];
        if ($body !== null || $method === 'POST') {
            $sent['content-type'] = 'application/json';
        }
        $sent = array_merge($sent, array_change_key_case($this->headers));
        if ($method === 'POST') {
            $sent['idempotency-key'] = $idempotencyKey ?? '';
        }
        $sent = array_merge($sent, array_change_key_case($headers));
        if ($method === 'POST' && trim($sent['idempotency-key']) === '') {
            $sent['idempotency-key'] = bin2hex(random_bytes(16));
        }
        foreach ($sent as $name => $value) {
            if (strpbrk("$name$value", "\r\n\0") !== false) { // curl would send it as a header of its own
                throw new \InvalidArgumentException("the header $name contains a line break");
            }
        }
        // An empty array is an empty list for PHP, and no body of the API is one.
        $content = $body === null ? '' : json_encode($body === [] ? new \stdClass() : self::plain($body), JSON_THROW_ON_ERROR);
        for ($attempt = 0; ; $attempt++) {
            try {
                return $this->exchange($method, $url, $sent, $content);
            } catch (Problem $problem) {
                // A PATCH has no idempotency key: without an answer of the API, the client cannot know whether it took effect.
                $unsafe = $method === 'PATCH' && !is_bool($problem->body['retryable'] ?? null);
                if (!$problem->retryable || $unsafe || $attempt >= $this->retries || $problem->retryAfter > 60) {
                    throw $problem;
                }
                usleep($problem->retryAfter * 1_000_000 ?: min(100_000 * 2 ** min($attempt, 5), 2_000_000));
            }
        }
    }

    /** @param array<string, string> $headers */
    private function exchange(string $method, string $url, array $headers, string $content): Reply
    {
        $received = [];
        $isComplete = false;
        $curl = curl_init($url);
        curl_setopt_array($curl, [
            CURLOPT_CUSTOMREQUEST => $method,
            CURLOPT_NOBODY => $method === 'HEAD',
            CURLOPT_RETURNTRANSFER => true,
            CURLOPT_NOSIGNAL => true, // for limits below a second
            CURLOPT_TIMEOUT_MS => (int) ($this->timeout * 1_000),
            CURLOPT_HTTPHEADER => array_map(static fn ($name, $value): string => "$name: $value", array_keys($headers), $headers),
            CURLOPT_HEADERFUNCTION => static function ($curl, string $line) use (&$received, &$isComplete): int {
                $isComplete = rtrim($line, "\r\n") === '';
                [$name, $value] = explode(':', $line, 2) + [1 => null];
                if ($value !== null) {
                    $received[strtolower($name)] = trim($value);
                }
                return strlen($line);
            },
        ]);
        if (preg_match('~^https?://(localhost|127\.[\d.]+|\[::1])[:/]~', $url)) {
            curl_setopt($curl, CURLOPT_NOPROXY, '*'); // a server of this machine is called without the proxy of the environment
        }
        if ($content !== '' || $method === 'POST') {
            curl_setopt($curl, CURLOPT_POSTFIELDS, $content);
        }
        $body = curl_exec($curl);
        $status = curl_getinfo($curl, CURLINFO_RESPONSE_CODE);
        if ($body === false || !$isComplete) { // curl accepts a head that ends too early
            throw new Problem(0, ['code' => 'no_reply', 'detail' => "$method $url: " . (curl_error($curl) ?: 'the head is not complete')]);
        }
        $hasContent = $method !== 'HEAD' && !in_array($status, [204, 304], true);
        $isJson = $hasContent && preg_match('~^[^;]*[/+]json\s*(;|$)~iD', $received['content-type'] ?? '');
        $parsed = $isJson ? json_decode($body, true) : $body;
        if ($status >= 300 && $status < 400 && $status !== 304) {
            throw new Problem($status, ['code' => 'redirect', 'detail' => "$method $url: the reply redirects to " . ($received['location'] ?? '')]);
        }
        if ($status >= 400) {
            $text = htmlspecialchars_decode(htmlspecialchars($body, ENT_SUBSTITUTE, 'UTF-8')); // what is not UTF-8 is replaced
            $problem = is_array($parsed) && !array_is_list($parsed) ? $parsed : ['detail' => $text];
            throw new Problem($status, is_array($problem['error'] ?? null) ? $problem['error'] : $problem, self::seconds($received['retry-after'] ?? ''), $text);
        }
        if ($parsed === null) {
            throw new Problem(0, ['code' => 'invalid_reply', 'detail' => "$method $url: the body is not JSON"]);
        }
        return new Reply($status, $received, $parsed);
    }

    /** The path and its query, with everything encoded that a URL does not have. What is encoded stays. */
    private static function target(string $path): string
    {
        $encode = static fn (array $one): string => rawurlencode($one[0]);
        return ($path[0] ?? '') === '/' ? preg_replace_callback('~%(?![0-9a-f]{2})|[^a-z0-9\-._\~!$&()*+,/:;=?@%]~i', $encode, $path) : self::target("/$path");
    }

    /** Times as the API writes them. */
    private static function plain(mixed $value): mixed
    {
        return $value instanceof \DateTimeInterface ? $value->format('Y-m-d\TH:i:s.vP') : (is_array($value) ? array_map(self::plain(...), $value) : $value);
    }

    /** A list repeats the name; null is left out. */
    private static function parameters(array $query): string
    {
        $pairs = [];
        foreach ($query as $name => $value) {
            foreach (is_array($value) ? $value : [$value] as $one) {
                $one = self::plain($one);
                if ($one !== null) {
                    $pairs[] = urlencode((string) $name) . '=' . urlencode(is_bool($one) ? json_encode($one) : (string) $one);
                }
            }
        }
        return implode('&', $pairs);
    }

    /** The seconds of a `Retry-After`, which is a number or a date. */
    private static function seconds(string $retryAfter): int
    {
        $isDate = preg_match('~^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$~D', $retryAfter); // strtotime reads more than dates
        return ctype_digit($retryAfter) ? (int) $retryAfter : ($isDate ? max(0, (int) strtotime($retryAfter) - time()) : 0);
    }
}
