package sandbox

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Webhook checks deliveries by Standard Webhooks. It has one secret, or several while a secret is replaced.
type Webhook struct {
	Secrets   []string
	Tolerance time.Duration
	Now       func() time.Time
}

// NewWebhook has a tolerance of five minutes.
func NewWebhook(secrets ...string) Webhook {
	return Webhook{secrets, 5 * time.Minute, time.Now}
}

// Verify returns an error unless the signature and the time are right and the body is a JSON object. The body is the bytes as received.
func (w Webhook) Verify(header http.Header, body []byte) error {
	if header.Get("Webhook-Id") == "" {
		return errors.New("webhook-id is missing")
	}
	timestamp := header.Get("Webhook-Timestamp")
	seconds, err := strconv.ParseUint(timestamp, 10, 40)
	if err != nil {
		return errors.New("webhook-timestamp is missing or no number")
	}
	if age := w.Now().Sub(time.Unix(int64(seconds), 0)); age > w.Tolerance || age < -w.Tolerance {
		return errors.New("webhook-timestamp is too old or in the future")
	}
	for _, secret := range w.Secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if err != nil || len(key) == 0 || strings.ContainsAny(secret, "\r\n") { // with an empty key, anyone could sign
			return errors.New("the secret is empty or not base64")
		}
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(header.Get("Webhook-Id") + "." + timestamp + "."))
		mac.Write(body)
		wanted := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
		for _, given := range strings.Fields(header.Get("Webhook-Signature")) {
			if hmac.Equal([]byte(given), []byte(wanted)) {
				var event map[string]json.RawMessage
				if !utf8.Valid(body) || json.Unmarshal(body, &event) != nil || event == nil {
					return errors.New("the body is no JSON object")
				}
				return nil
			}
		}
	}
	return errors.New("webhook-signature is wrong")
}
