// The steps so far ↔ a file, flushed to disk before the next step.
package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// entry is one scheduled event.
type entry struct {
	Phase   string   `json:"phase"`   // "", preparing, prepared, started, ended
	Handled []string `json:"handled"` // the ids of its CloudEvents
	Seen    string   `json:"seen"`    // the one to approve
	Tries   int      `json:"tries"`   // how often the metadata service has refused
	Ended   mark     `json:"ended"`
}

func (e entry) isOpen() bool { return e.Phase != "" && e.Phase != "ended" }

// mark is the last `ended` of an event.
type mark struct {
	Round    int       `json:"round"`
	Time     time.Time `json:"time"`
	Observer string    `json:"observer"`
	At       time.Time `json:"at"` // when it came
}

type stored struct {
	Position string           `json:"position,omitempty"` // of the stream
	Events   map[string]entry `json:"events"`
}

func open(file string) (*Maintenance, error) {
	host, _ := os.Hostname()
	m := &Maintenance{machine: env("MACHINE", host), source: strings.ToLower(os.Getenv("SOURCE")), file: file}
	m.stored.Events = map[string]entry{}
	bytes, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	} else if err != nil {
		return nil, err
	}
	return m, json.Unmarshal(bytes, &m.stored)
}

// openBeside returns how many other events keep the machine out of service.
func (m *Maintenance) openBeside(key string) (count int) {
	for each, e := range m.stored.Events {
		if each != key && e.isOpen() {
			count++
		}
	}
	return count
}

// put stores an entry, then prints what has been done. If the disk refuses it, memory keeps the old one, too: the CloudEvent comes again.
func (m *Maintenance) put(key string, e entry, done string) error {
	before, isKnown := m.stored.Events[key]
	m.stored.Events[key] = e
	for each, e := range m.stored.Events {
		if e.Phase == "ended" && time.Since(e.Ended.At) > keepEnded {
			delete(m.stored.Events, each)
		}
	}
	if err := m.save(); err != nil {
		if m.stored.Events[key] = before; !isKnown {
			delete(m.stored.Events, key)
		}
		return err
	}
	if done != "" {
		log.Print(done)
	}
	return nil
}

// save writes a new file, flushes it, and puts it in the place of the old one.
func (m *Maintenance) save() error {
	bytes, _ := json.Marshal(m.stored)
	next, err := os.Create(m.file + ".new")
	if err != nil {
		return err
	}
	_, err = next.Write(bytes)
	if err = errors.Join(err, next.Sync(), next.Close()); err != nil {
		return err
	}
	if err := os.Rename(next.Name(), m.file); err != nil {
		return err
	}
	folder, err := os.Open(filepath.Dir(m.file))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
