// GET /v1/stream of the bridge → one step for each CloudEvent; approvals by HTTP.
package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"strings"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2/event"
)

const silence = 45 * time.Second // the bridge sends a comment every 15 s

func stream(ctx context.Context, m *Maintenance) error {
	m.approve = approveByHTTP
	for pause := 250 * time.Millisecond; ctx.Err() == nil; pause = min(2*pause, 5*time.Second) {
		began := time.Now()
		log.Printf("connecting again: %s", m.read(ctx))
		if time.Since(began) > silence {
			pause = 250 * time.Millisecond
		}
		_ = sleep(ctx, pause)
	}
	return nil
}

// read begins behind the last position, or else with what is listed, and returns when the connection breaks.
func (m *Maintenance) read(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := time.AfterFunc(silence, func() { cancel(fmt.Errorf("no byte for %s", silence)) })
	defer watch.Stop()
	response, err := send(ctx, http.MethodGet, "/v1/stream?begin=listed", nil, m.stored.Position)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	isCompared := m.stored.Position != ""
	switch response.StatusCode {
	case http.StatusOK:
		log.Print("ready")
	case http.StatusGone, http.StatusBadRequest: // pruned, or a position of another store
		m.stored.Position = ""
		fallthrough
	default:
		return fmt.Errorf("the bridge answered %s", response.Status)
	}
	position, data := m.stored.Position, ""
	for lines := bufio.NewReader(response.Body); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			return cmp.Or(context.Cause(ctx), err)
		}
		watch.Reset(silence)
		name, value, isField := strings.Cut(strings.TrimSpace(line), ":")
		switch {
		case name == "id":
			position = strings.TrimSpace(value)
		case name == "data":
			data = value
		case !isField: // an empty line ends a frame
			watch.Stop() // the work may take longer
			if err := m.frame(ctx, data); err != nil {
				return err
			}
			// A stored position means that nothing before it is missing.
			isCompared = isCompared || m.compare(ctx) == nil
			if isCompared && position != m.stored.Position {
				m.stored.Position = position
				if err := m.save(); err != nil {
					return err
				}
			}
			data = ""
			watch.Reset(silence)
		}
	}
}

// frame handles the CloudEvent of a frame. A comment and a frame with a newer position have none.
func (m *Maintenance) frame(ctx context.Context, data string) error {
	if data == "" {
		return nil
	}
	var event cloudevents.Event
	err := event.UnmarshalJSON([]byte(data))
	if err = m.take(ctx, &event, err); err == errUnreadable {
		return nil
	}
	return err
}

// compare recovers from what ended while the program had no position: its `ended` does not come.
func (m *Maintenance) compare(ctx context.Context) error {
	response, err := send(ctx, http.MethodGet, "/v1/events", nil, "")
	if err != nil {
		return err
	}
	defer response.Body.Close()
	var list struct {
		State  string
		Events []struct{ EventID string }
	}
	if err := json.NewDecoder(response.Body).Decode(&list); err != nil || list.State != "watching" {
		return fmt.Errorf("the bridge is %q", list.State)
	}
	isListed := map[string]bool{}
	for _, event := range list.Events {
		isListed[strings.ToLower(event.EventID)] = true
	}
	for key, e := range m.stored.Events {
		eventID := key[strings.LastIndex(key, " ")+1:]
		if !e.isOpen() || isListed[eventID] {
			continue
		}
		last := mark{Round: 1, At: time.Now()}
		for _, id := range e.Handled {
			last.Round = max(last.Round, round(id))
		}
		done, err := m.end(ctx, key, &e, &notice{EventID: eventID, Outcome: "unknown"}, last)
		if err != nil {
			return err
		}
		if err := m.put(key, e, done); err != nil {
			return err
		}
	}
	return nil
}
