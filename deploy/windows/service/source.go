//go:build windows

// The name of a source → its key in the registry, with files that show the text of an entry unchanged.
package main

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/windows/registry"
	"golang.org/x/sys/windows/svc/eventlog"
)

const (
	eventLogs = `SYSTEM\CurrentControlSet\Services\EventLog`
	// The only log of the sink windows-event-log.
	logName = "Application"
	// The first has the ids 1 to 1000; the second, of the .NET Framework, has all ids up to 65535. Both are part of Windows:
	// a file of this program would be locked by the event log during an upgrade.
	messageFiles = `%SystemRoot%\System32\EventCreate.exe;%SystemRoot%\Microsoft.NET\Framework64\v4.0.30319\EventLogMessages.dll`
)

func sourceKey(log, source string) string {
	return eventLogs + `\` + log + `\` + source
}

// registerSource enters a source. One that exists stays as it is, because it may belong to another program.
func registerSource(name string) error {
	if name == "" || strings.Contains(name, `\`) {
		return errors.New("the name of a source must not be empty, and must not contain a backslash")
	}
	log, err := logOf(name)
	if err != nil {
		return err
	}
	if log != "" && !strings.EqualFold(log, logName) {
		return fmt.Errorf("the source %s is registered in the log %s: remove it there, or choose another name", name, log)
	}
	if log != "" {
		fmt.Printf("the source %s is already registered, and unchanged\n", name)
		return nil
	}
	if err := setEventSource(name); err != nil {
		return err
	}
	fmt.Printf("the source %s is registered in the log %s\n", name, logName)
	return nil
}

// logOf returns the log in which a source is registered, or "". Logs that may not be read are left out.
func logOf(source string) (string, error) {
	key, err := registry.OpenKey(registry.LOCAL_MACHINE, eventLogs, registry.ENUMERATE_SUB_KEYS)
	if err != nil {
		return "", fmt.Errorf("the logs cannot be listed: %w", err)
	}
	defer key.Close()
	logs, err := key.ReadSubKeyNames(-1)
	if err != nil {
		return "", fmt.Errorf("the logs cannot be listed: %w", err)
	}
	for _, log := range logs {
		if key, err := registry.OpenKey(registry.LOCAL_MACHINE, sourceKey(log, source), registry.QUERY_VALUE); err == nil {
			key.Close()
			return log, nil
		}
	}
	return "", nil
}

// setEventSource enters a source, or corrects what is entered.
func setEventSource(name string) error {
	key, _, err := registry.CreateKey(registry.LOCAL_MACHINE, sourceKey(logName, name), registry.SET_VALUE)
	if err == nil {
		defer key.Close()
		err = errors.Join(
			key.SetExpandStringValue("EventMessageFile", messageFiles),
			key.SetDWordValue("TypesSupported", eventlog.Error|eventlog.Warning|eventlog.Info),
			key.SetDWordValue("CustomSource", 1),
		)
	}
	if err != nil {
		return fmt.Errorf("the source %s cannot be registered (run as an administrator): %w", name, err)
	}
	return nil
}
