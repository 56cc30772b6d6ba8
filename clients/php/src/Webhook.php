<?php

declare(strict_types=1);

namespace FinanceSandbox;

/** Checks deliveries by Standard Webhooks. */
final class Webhook
{
    /**
     * Returns the event of a delivery. `$body` is the bytes as received. `$secrets` is one secret, or several while a
     * secret is replaced.
     *
     * @param string|list<string> $secrets
     * @param array<string, string|list<string>> $headers of PSR-7, too
     * @return array<string, mixed>
     */
    public static function verify(string|array $secrets, array $headers, string $body, int $tolerance = 300, ?int $now = null): array
    {
        $text = static fn (mixed $value): string => implode(' ', (array) $value);
        $headers = array_map($text, array_change_key_case($headers));
        if (($headers['webhook-id'] ?? '') === '') {
            throw new WebhookError('webhook-id is missing');
        }
        $timestamp = $headers['webhook-timestamp'] ?? '';
        if (!preg_match('/^\d{1,12}$/D', $timestamp)) {
            throw new WebhookError('webhook-timestamp is missing or no number');
        }
        if (abs(($now ?? time()) - (int) $timestamp) > $tolerance) {
            throw new WebhookError('webhook-timestamp is too old or in the future');
        }
        $signed = "{$headers['webhook-id']}.$timestamp.$body";
        foreach ((array) $secrets as $secret) {
            $coded = preg_replace('/^whsec_/', '', $secret);
            $key = base64_decode($coded, true); // accepts line breaks and no padding
            if ($key === false || $key === '' || base64_encode($key) !== $coded) { // with an empty key, anyone could sign
                throw new WebhookError('the secret is empty or not base64');
            }
            $wanted = 'v1,' . base64_encode(hash_hmac('sha256', $signed, $key, true));
            foreach (preg_split('/\s+/', $headers['webhook-signature'] ?? '') as $given) {
                if (hash_equals($wanted, $given)) {
                    $event = str_starts_with(ltrim($body), '{') ? json_decode($body, true) : null;
                    return $event ?? throw new WebhookError('the body is no JSON object');
                }
            }
        }
        throw new WebhookError('webhook-signature is wrong');
    }
}
