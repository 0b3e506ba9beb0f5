//go:build windows

// Lines of JSON on standard input → entries in the event log, and a line of JSON on standard output for each.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
	"golang.org/x/sys/windows/svc/eventlog"
)

type entryRequest struct {
	Source string `json:"source"`
	ID     uint32 `json:"id"`
	Level  string `json:"level"`
	// Without a text, only the source is checked.
	Text *string `json:"text"`
}

type entryAnswer struct {
	// The error code of Windows. 0: the entry is in the log, or the source can be used.
	Code    uint32 `json:"code"`
	Message string `json:"message,omitempty"`
}

// writeEntries returns when standard input ends, which the end of the bridge causes.
func writeEntries() error {
	requests, answers := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	var writer entryWriter
	defer writer.close()
	for {
		var request entryRequest
		if err := requests.Decode(&request); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("standard input is not a request: %w", err)
		}
		if err := answers.Encode(answerTo(writer.write(request))); err != nil {
			return err
		}
	}
}

func answerTo(err error) entryAnswer {
	if err == nil {
		return entryAnswer{}
	}
	var code syscall.Errno
	if !errors.As(err, &code) || code == 0 {
		code = windows.ERROR_GEN_FAILURE
	}
	return entryAnswer{Code: uint32(code), Message: err.Error()}
}

// entryWriter keeps one source open.
type entryWriter struct {
	source string
	log    *eventlog.Log
}

// write returns nil once ReportEvent of Windows has returned true. After a failure, the next request opens the source again.
func (w *entryWriter) write(request entryRequest) error {
	if w.log == nil || w.source != request.Source || request.Text == nil {
		if err := w.open(request.Source); err != nil {
			return err
		}
	}
	if request.Text == nil {
		return nil
	}
	err := w.report(request)
	if err != nil {
		w.close()
	}
	return err
}

func (w *entryWriter) report(request entryRequest) error {
	switch request.Level {
	case "error":
		return w.log.Error(request.ID, *request.Text)
	case "warning":
		return w.log.Warning(request.ID, *request.Text)
	default:
		return w.log.Info(request.ID, *request.Text)
	}
}

// open fails if the source is not registered. Windows itself would write entries without a readable text.
func (w *entryWriter) open(source string) error {
	w.close()
	key, err := registry.OpenKey(registry.LOCAL_MACHINE, sourceKey(logName, source), registry.QUERY_VALUE)
	if err != nil {
		return err
	}
	key.Close()
	log, err := eventlog.Open(source)
	if err != nil {
		return err
	}
	w.source, w.log = source, log
	return nil
}

func (w *entryWriter) close() {
	if w.log != nil {
		w.log.Close()
		w.log = nil
	}
}
