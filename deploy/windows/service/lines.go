// Chunks of bytes → whole lines.
package main

import "bytes"

// Longer lines are passed on in parts.
const longestLine = 1 << 20

type lines struct {
	take func(line []byte)
	rest []byte
}

func (l *lines) Write(chunk []byte) (int, error) {
	l.rest = append(l.rest, chunk...)
	for {
		end := bytes.IndexByte(l.rest, '\n')
		if end < 0 {
			break
		}
		l.take(bytes.TrimSuffix(l.rest[:end], []byte("\r")))
		l.rest = l.rest[end+1:]
	}
	if len(l.rest) > longestLine {
		l.take(l.rest)
		l.rest = nil
	}
	return len(chunk), nil
}
