// The name of a channel (webhook, kafka, stream) → its CloudEvents, prepared for, approved and recovered from on this machine.
package main

import (
	"context"
	"log"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	log.SetFlags(0)
	log.SetOutput(os.Stdout)
	channels := map[string]func(context.Context, *Maintenance) error{"webhook": webhook, "kafka": kafka, "stream": stream}
	if len(os.Args) != 2 || channels[os.Args[1]] == nil {
		log.Fatal("usage: maintenance webhook|kafka|stream")
	}
	if os.Args[1] != "kafka" && os.Getenv("BRIDGE_TOKEN") == "" {
		log.Fatal("BRIDGE_TOKEN is not set: it must be the token of an approver")
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	m, err := open(env("STATE", "maintenance.json"))
	if err != nil {
		log.Fatal(err)
	}
	m.resume(ctx)
	if err := channels[os.Args[1]](ctx, m); err != nil && ctx.Err() == nil {
		log.Fatal(err)
	}
}

func env(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}
