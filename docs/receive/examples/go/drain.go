// An event that comes, an event that is over → what this machine does about it. Replace both functions.
package main

import (
	"context"
	"strconv"
	"time"
)

// drain takes the machine out of service and returns when it is ready, at the latest at NotBefore.
func drain(ctx context.Context, notBefore *time.Time) error {
	seconds, _ := strconv.Atoi(env("PREPARE_SECONDS", "5"))
	limit := time.Now().Add(10 * time.Minute)
	if notBefore != nil && notBefore.After(time.Now()) {
		limit = *notBefore
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
