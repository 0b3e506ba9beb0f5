// POSTs of a webhook sink (structured, signed) → one step each; approvals by HTTP.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2/event"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

func webhook(ctx context.Context, m *Maintenance) error {
	m.approve = approveByHTTP
	secret := os.Getenv("HOOK_SECRET")
	signature, err := standardwebhooks.NewWebhook(secret)
	if err != nil || secret == "" {
		return fmt.Errorf("HOOK_SECRET must be the secret of the sink, whsec_…: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+env("PORT", "9000"))
	if err != nil {
		return err
	}
	server := &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err == nil {
			err = signature.Verify(body, r.Header)
		}
		if err != nil {
			log.Printf("refused: %s", err)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.WriteHeader(m.receive(ctx, r.Header.Get("Content-Type"), body))
	})}
	go func() {
		<-ctx.Done()
		_ = server.Shutdown(context.Background())
	}()
	log.Print("ready")
	return server.Serve(listener)
}

// receive uses the program's context: if the bridge does not wait so long, its retry gets the result of the first attempt.
func (m *Maintenance) receive(ctx context.Context, contentType string, body []byte) int {
	// The signature covers the body alone, so the whole CloudEvent must be in it.
	if !strings.HasPrefix(contentType, cloudevents.ApplicationCloudEventsJSON) {
		return http.StatusUnsupportedMediaType
	}
	var event cloudevents.Event
	err := event.UnmarshalJSON(body)
	switch err = m.take(ctx, &event, err); err {
	case nil:
		return http.StatusNoContent
	case errUnreadable:
		return http.StatusBadRequest
	default:
		log.Printf("failed: %s: %s", event.ID(), err)
		return http.StatusInternalServerError
	}
}
