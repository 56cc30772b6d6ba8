package sandboxtest

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	sandbox "finance-sandbox"
)

// Receiver is a local receiver. It checks every signature and refuses a delivery that is not signed with its secret.
type Receiver struct {
	URL, Secret string

	world   *World
	lock    sync.Mutex
	status  int
	events  []M
	refused []error
	arrived chan struct{} // closed and replaced at each arrival
}

// Receiver starts a receiver of the webhooks of these types, by default of all. It stops at the end of the test.
func (w *World) Receiver(events ...string) *Receiver {
	w.t.Helper()
	secret := make([]byte, 24)
	_, _ = rand.Read(secret)
	receiver := &Receiver{world: w, status: http.StatusNoContent, arrived: make(chan struct{})}
	receiver.Secret = "whsec_" + base64.StdEncoding.EncodeToString(secret)
	server := httptest.NewServer(http.HandlerFunc(receiver.receive))
	w.t.Cleanup(server.Close)
	receiver.URL = server.URL
	endpoint := M{"url": server.URL, "secret": receiver.Secret}
	if len(events) > 0 {
		endpoint["events"] = events
	}
	w.Control("POST", "/webhook-endpoints", nil, endpoint)
	return receiver
}

func (r *Receiver) receive(answer http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	event := M{}
	if err == nil {
		err = sandbox.NewWebhook(r.Secret).Verify(request.Header, body)
	}
	if err == nil {
		err = json.Unmarshal(body, &event)
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	status := r.status
	if err != nil {
		r.refused = append(r.refused, err)
		status = http.StatusBadRequest
	} else {
		r.events = append(r.events, event)
	}
	close(r.arrived)
	r.arrived = make(chan struct{})
	answer.WriteHeader(status)
}

// Answer sets the status of the answers.
func (r *Receiver) Answer(status int) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.status = status
}

// Refused lists why deliveries were refused.
func (r *Receiver) Refused() []error {
	r.lock.Lock()
	defer r.lock.Unlock()
	return append([]error(nil), r.refused...)
}

// WaitFor returns the first event of this type that arrived, or arrives within ten seconds. Otherwise it ends the test.
func (r *Receiver) WaitFor(kind string) M {
	r.world.t.Helper()
	limit := time.After(10 * time.Second)
	for {
		r.lock.Lock()
		arrived, types := r.arrived, []any{}
		for _, event := range r.events {
			if event["type"] == kind {
				r.lock.Unlock()
				return event
			}
			types = append(types, event["type"])
		}
		r.lock.Unlock()
		select {
		case <-arrived:
		case <-limit:
			r.world.t.Fatalf("%s did not arrive in 10 s; received: %v; refused: %v", kind, types, r.Refused())
		}
	}
}
