//go:build windows

// Arguments → the service runs under Windows' service manager, or is registered or removed there; or entries are written.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"

	"golang.org/x/sys/windows/svc"
	"golang.org/x/sys/windows/svc/eventlog"
)

const serviceName = "scheduled-events-bridge"

const usage = `scheduled-events-bridge-service.exe starts the bridge as the service scheduled-events-bridge. Verbs:
  service      how Windows starts it
  reload       asks the running service to read its configuration again
  register     enters the service and its event source, or corrects what is entered
  unregister   removes both; configuration and state stay
  register-source NAME
               enters another source of a windows-event-log sink in the log Application
  event-log    how the bridge starts it: reads entries from standard input and writes them to the event log`

func main() {
	if err := dispatch(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func dispatch(args []string) error {
	verbs := map[string]func() error{
		"service": runService, "reload": reload, "register": register, "unregister": unregister, "event-log": writeEntries,
	}
	if len(args) == 1 && verbs[args[0]] != nil {
		return verbs[args[0]]()
	}
	if len(args) == 2 && args[0] == "register-source" {
		return registerSource(args[1])
	}
	return errors.New(usage)
}

func runService() error {
	home, err := programFolder()
	if err != nil {
		return err
	}
	events, err := eventlog.Open(serviceName)
	if err != nil {
		return err
	}
	defer events.Close()
	data := dataFolder()
	log, err := openLog(filepath.Join(data, "log", "service.log"))
	if err != nil {
		// The service works without its log.
		events.Warning(idWarning, fmt.Sprintf("the log cannot be written: %v", err))
	}
	keepCrashes(filepath.Join(data, "log", "crash.log"))
	if err := endTogether(); err != nil {
		return err
	}
	return svc.Run(serviceName, &service{home: home, data: data, report: &report{log: log, events: events}})
}

// A service has no standard error: Go's message about a crash of this program goes to a file.
func keepCrashes(path string) {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer file.Close()
	_ = debug.SetCrashOutput(file, debug.CrashOptions{})
}

func programFolder() (string, error) {
	self, err := os.Executable()
	return filepath.Dir(self), err
}

func dataFolder() string {
	return filepath.Join(os.Getenv("ProgramData"), serviceName)
}
