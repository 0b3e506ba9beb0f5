// An event that comes, an event that is over → what this machine does about it. Replace both functions.
package main

import (
	"context"
	"strconv"
	"time"
)

// drain takes the machine out of service and returns when it is ready, at the latest at NotBefore. It runs again after a crash or an update.
// In a drill (n.Drill) nothing happens to the machine: skip what cannot be undone.
func drain(ctx context.Context, n *notice) error {
	seconds, _ := strconv.Atoi(env("PREPARE_SECONDS", "5"))
	limit := time.Now().Add(10 * time.Minute)
	if n.NotBefore != nil && n.NotBefore.After(time.Now()) {
		limit = *n.NotBefore
	}
	ctx, cancel := context.WithDeadline(ctx, limit)
	defer cancel()
	return sleep(ctx, time.Duration(seconds)*time.Second)
}

// undrain takes the machine into service again.
func undrain(context.Context) error { return nil }

func sleep(ctx context.Context, pause time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(pause):
		return nil
	}
}
