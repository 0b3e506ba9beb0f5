// One CloudEvent → at most one step of its scheduled event: unknown → preparing → prepared → started → ended.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2/event"
)

const (
	ours      = "io.github.scheduled-events-bridge."
	stale     = 10 * time.Minute   // a NotBefore longer ago is old news
	keepEnded = 7 * 24 * time.Hour // how long an ended event is not prepared for again
)

// notice is `data` of a CloudEvent about one scheduled event. Unknown members are ignored.
type notice struct {
	EventID        string     `json:"eventId"`
	EventType      string     `json:"eventType"`
	PreviousStatus string     `json:"previousStatus"`
	Resources      []string   `json:"resources"`
	NotBefore      *time.Time `json:"notBefore"`
	Outcome        string     `json:"outcome"`
	Reason         string     `json:"reason"`
	Drill          bool       `json:"drill"`
	Observer       struct {
		Name string `json:"name"`
	} `json:"observer"`
}

// Maintenance holds what this machine has done for each scheduled event. Its file survives kill -9.
type Maintenance struct {
	machine    string                                                 // the name in `resources`
	source     string                                                 // the only `source` that counts; "" for all
	approve    func(ctx context.Context, eventID, seen string) string // by the channel; returns "" if the program is ending
	unreadable int
	file       string
	mu         sync.Mutex // one step at a time: prepare and recover never run side by side
	stored     stored
}

// errUnreadable means that no repeat helps. Any other error of handle means that the CloudEvent must come again.
var errUnreadable = errors.New("not a CloudEvent of a bridge")

// take handles what a channel has received and parsed. What it could not parse is counted.
func (m *Maintenance) take(ctx context.Context, event *cloudevents.Event, err error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil {
		return m.skip(err.Error())
	}
	return m.handle(ctx, event)
}

// handle takes one step.
func (m *Maintenance) handle(ctx context.Context, event *cloudevents.Event) error {
	change, _ := strings.CutPrefix(event.Type(), ours)
	var n notice
	switch {
	case !isReadable(event):
		return m.skip("attributes or JSON are missing: " + event.ID())
	case !slices.Contains([]string{"scheduled.v1", "updated.v1", "started.v1", "ended.v1", "approval.failed.v1"}, change):
		return pass(event, "other type")
	case event.DataAs(&n) != nil || n.EventID == "" || (n.Resources == nil && change != "approval.failed.v1"):
		return m.skip("data that is not of its type: " + event.ID())
	case m.source != "" && m.source != event.Source():
		return pass(event, "another source")
	}
	var err error
	var done string // printed once it is on disk
	key := event.Source() + " " + strings.ToLower(n.EventID)
	e := m.stored.Events[key]
	switch {
	case slices.Contains(e.Handled, event.ID()):
		return pass(event, "repeat")
	case change == "approval.failed.v1":
		if !e.isOpen() {
			return pass(event, "not for this machine")
		}
		err = m.refused(ctx, &e, &n)
	case !e.Ended.At.IsZero() && (!e.isOpen() || change == "ended.v1") && !mayFollow(e.Ended, event, &n):
		return pass(event, "ended")
	case change == "ended.v1":
		done, err = m.end(ctx, key, &e, &n, mark{round(event.ID()), event.Time(), n.Observer.Name, time.Now()})
	case !slices.ContainsFunc(n.Resources, func(name string) bool { return strings.EqualFold(name, m.machine) }):
		return pass(event, "not for this machine")
	case change == "started.v1":
		if e.Phase != "prepared" { // it came without notice: there is nothing to approve
			err = m.prepare(ctx, key, &e, &n)
		}
		e.Phase, done = "started", "started "+n.EventID
	case n.NotBefore != nil && time.Since(*n.NotBefore) > stale:
		return pass(event, "old news")
	case e.Phase == "started" && n.PreviousStatus != "Started":
		return pass(event, "started")
	default:
		e.Seen, e.Tries = event.ID(), 0
		if err = m.prepare(ctx, key, &e, &n); err == nil && e.Phase == "prepared" {
			err = m.ask(ctx, &e, &n)
		}
	}
	if err != nil {
		return err
	}
	e.Handled = append(e.Handled, event.ID())
	return m.put(key, e, done)
}

// isReadable says if it has all attributes that a CloudEvent needs, and JSON if it says so.
func isReadable(event *cloudevents.Event) bool {
	mustBeJSON := event.DataMediaType() == cloudevents.ApplicationJSON && len(event.Data()) > 0
	return event.Validate() == nil && (!mustBeJSON || json.Valid(event.Data()))
}

// prepare takes the machine out of service: again after a crash or an update, so it must do no harm.
// If it fails, nobody approves, and Azure starts the event at its NotBefore.
func (m *Maintenance) prepare(ctx context.Context, key string, e *entry, n *notice) error {
	e.Phase = "preparing"
	if err := m.put(key, *e, ""); err != nil { // on disk before the work: after a crash there is something to recover
		return err
	}
	log.Printf("preparing %s %s%s", n.EventID, n.EventType, map[bool]string{true: " (drill)"}[n.Drill])
	if err := drain(ctx, n); ctx.Err() != nil {
		return ctx.Err()
	} else if err != nil {
		log.Printf("not prepared, so not approved: %s: %s", n.EventID, err)
		return nil
	}
	e.Phase = "prepared"
	return m.put(key, *e, "")
}

// end recovers, unless another event still keeps the machine out of service. It returns what it has done.
func (m *Maintenance) end(ctx context.Context, key string, e *entry, n *notice, ended mark) (done string, err error) {
	left := m.openBeside(key)
	switch {
	case !e.isOpen():
		done = fmt.Sprintf("ended %s: %s, was not prepared", n.EventID, n.Outcome)
	case left > 0:
		done = fmt.Sprintf("ended %s: %s, %d left", n.EventID, n.Outcome, left)
	default:
		err = undrain(ctx)
		done = fmt.Sprintf("recovered %s: %s", n.EventID, n.Outcome)
	}
	e.Phase, e.Ended = "ended", ended
	return done, err
}

// resume prepares again, since this program or the machine may have ended in the middle of an event.
func (m *Maintenance) resume(ctx context.Context) {
	if m.openBeside("") > 0 {
		if err := drain(ctx, &notice{}); err != nil {
			log.Printf("not prepared: %s", err)
		}
	}
}

// ask approves what the CloudEvent showed, and nothing worse.
func (m *Maintenance) ask(ctx context.Context, e *entry, n *notice) error {
	answer := m.approve(ctx, n.EventID, e.Seen)
	if answer == "" {
		return ctx.Err()
	}
	report(n.EventID, answer)
	return nil
}

// refused reads `approval.failed`. If the metadata service said no, and the machine is still prepared, it asks again, five times.
func (m *Maintenance) refused(ctx context.Context, e *entry, n *notice) error {
	if n.Reason != "refused" || e.Phase != "prepared" || e.Tries == 5 {
		report(n.EventID, n.Reason)
		return nil
	}
	e.Tries++
	if err := sleep(ctx, time.Duration(e.Tries)*time.Second); err != nil {
		return err
	}
	return m.ask(ctx, e, n)
}

// report says what came of an approval, and if somebody has to look.
func report(eventID, result string) {
	byItself := []string{
		"sent", "submitted", "submitting", "waiting", "held", "started", "moot", "unknown", "dry-run", // states
		"changed", "ended", "old", // the next CloudEvent of the event decides
	}
	suffix := ", needs an operator" // until then Azure starts events at their NotBefore
	if slices.Contains(byItself, result) {
		suffix = ""
	}
	log.Printf("approval %s: %s%s", eventID, result, suffix)
}

func pass(event *cloudevents.Event, why string) error {
	log.Printf("passed %s: %s", event.ID(), why)
	return nil
}

// skip counts and reports what nobody can read. It never stops the program.
func (m *Maintenance) skip(why string) error {
	m.unreadable++
	log.Printf("skipped %d: %q", m.unreadable, why)
	return errUnreadable
}

// mayFollow says if a CloudEvent is newer than the last `ended`: of a later round, or later by the same observer.
func mayFollow(ended mark, event *cloudevents.Event, n *notice) bool {
	isLater := n.Observer.Name == ended.Observer && event.Time().After(ended.Time)
	return event.Type() != ours+"updated.v1" && (round(event.ID()) > ended.Round || isLater)
}

var rounds = regexp.MustCompile(`:r(\d+)$`)

// round returns N of `…:rN` at the end of an id, and 1 without it.
func round(id string) int {
	if found := rounds.FindStringSubmatch(id); found != nil {
		n, _ := strconv.Atoi(found[1])
		return n
	}
	return 1
}
