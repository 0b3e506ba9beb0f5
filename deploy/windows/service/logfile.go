// Lines → a file that is renamed before it grows too large; the oldest goes.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

const (
	largestLog = 10 << 20
	keptLogs   = 5
	moreOfLog  = 1 << 20
)

// logFile: a disk that takes nothing stops nobody. Nil writes nothing.
type logFile struct {
	mutex sync.Mutex
	path  string
	file  *os.File
	size  int64
	// Where it is renamed; more once that failed.
	limit int64
}

func openLog(path string) (*logFile, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	log := &logFile{path: path, limit: largestLog}
	return log, log.open()
}

func (l *logFile) open() error {
	file, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return err
	}
	l.file, l.size = file, info.Size()
	return nil
}

func (l *logFile) write(line []byte) {
	if l == nil {
		return
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.file != nil && l.size > 0 && l.size+int64(len(line)) > l.limit {
		l.rotate()
	}
	if l.file == nil && l.open() != nil {
		return
	}
	written, _ := l.file.Write(append(line[:len(line):len(line)], '\n'))
	l.size += int64(written)
}

// service.log becomes service.log.1, and so on. One that somebody holds open is written on for a while.
func (l *logFile) rotate() {
	l.file.Close()
	l.file = nil
	if os.Rename(l.path, l.numbered(0)) != nil {
		l.limit = l.size + moreOfLog
		return
	}
	l.limit = largestLog
	for number := keptLogs - 1; number >= 0; number-- {
		_ = os.Rename(l.numbered(number), l.numbered(number+1))
	}
}

func (l *logFile) numbered(number int) string {
	return fmt.Sprintf("%s.%d", l.path, number)
}
