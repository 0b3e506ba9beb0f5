// The program's output and its end → the log file and, if important, the event log.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"
)

// Message ids of EventCreate.exe, which show a text unchanged.
const (
	idInformation = 1
	idWarning     = 2
	idError       = 3
	idEnded       = 4
	// A service that stays stopped: the exit code of the bridge is the id, 74 or 78.
)

const (
	// The limit of an entry is 31,839 characters.
	longestEntry = 16 * 1024
	// The last output of a crash or a bad configuration.
	mostLastLines = 40
)

type eventLog interface {
	Info(id uint32, text string) error
	Warning(id uint32, text string) error
	Error(id uint32, text string) error
}

type report struct {
	mutex      sync.Mutex
	log        *logFile
	events     eventLog
	lastOutput []string
	failures   string
}

// Called before a start.
func (r *report) begin() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.lastOutput = nil
}

// Handles a line of standard output.
func (r *report) printed(line []byte) {
	r.log.write(line)
}

// Handles a line of standard error: a log line, or the output of a crash or a bad configuration.
func (r *report) said(line []byte) {
	r.log.write(line)
	var record struct {
		Level string `json:"level"`
	}
	isRecord := bytes.HasPrefix(line, []byte("{")) && json.Unmarshal(line, &record) == nil
	switch {
	case !isRecord:
		r.mutex.Lock()
		defer r.mutex.Unlock()
		if len(r.lastOutput) < mostLastLines {
			r.lastOutput = append(r.lastOutput, string(line))
		}
	case record.Level == "warn":
		_ = r.events.Warning(idWarning, entry(string(line)))
	case record.Level == "error" || record.Level == "fatal":
		_ = r.events.Error(idError, entry(string(line)))
	}
}

func (r *report) info(message string) {
	r.note("info", message)
	_ = r.events.Info(idInformation, message)
}

// Reports a problem once, until it changes.
func (r *report) failure(message string) {
	if r.failures == message {
		return
	}
	r.failures = message
	r.note("error", message)
	_ = r.events.Error(idError, entry(message))
}

func (r *report) ended(code int) {
	message := fmt.Sprintf("the bridge ended with code %d and starts again", code)
	r.note("warn", message)
	_ = r.events.Warning(idEnded, entry(r.withLastOutput(message)))
}

// Reports that the service stays stopped; code is that of the bridge.
func (r *report) staysStopped(code int) {
	message := "the configuration is invalid, so the service stays stopped: correct bridge.yaml, then start the service"
	if code == exitStore {
		message = "the store cannot be used, so the service stays stopped: follow the reason below, then start the service"
	}
	r.note("error", message)
	_ = r.events.Error(uint32(code), entry(r.withLastOutput(message)))
}

// Writes an own line to the log, in the format of the other lines.
func (r *report) note(level, message string) {
	line, _ := json.Marshal(struct {
		Level string `json:"level"`
		Time  string `json:"time"`
		Area  string `json:"area"`
		Msg   string `json:"msg"`
	}{level, time.Now().UTC().Format("2006-01-02T15:04:05.000Z"), "service", message})
	r.log.write(line)
}

func (r *report) withLastOutput(message string) string {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return strings.Join(append([]string{message}, r.lastOutput...), "\r\n")
}

// Windows replaces %1 and %%1 in the text of an event.
var placeholder = regexp.MustCompile(`%+[0-9]`)

// The text of an event cannot contain NUL.
func entry(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "?"), "\x00", "")
	text = placeholder.ReplaceAllStringFunc(text, func(found string) string { return strings.ReplaceAll(found, "%", "% ") })
	if len(text) > longestEntry {
		text = strings.ToValidUTF8(text[:longestEntry], "") + " ... (the whole in service.log)"
	}
	return text
}
