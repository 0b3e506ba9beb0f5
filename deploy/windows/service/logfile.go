// Lines → a file that is rotated by size; the oldest file is deleted.
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

// logFile ignores errors of the disk, so that they do not stop the service. A nil logFile writes nothing.
type logFile struct {
	mutex sync.Mutex
	path  string
	file  *os.File
	size  int64
	// The size at which the file is rotated; larger after a failed rotation.
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

// service.log becomes service.log.1, and so on. If another program has it open, writing continues for a while.
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
