//go:build windows

// Requests of the service manager → the program is started, restarted, reloaded, stopped.
package main

import (
	"fmt"
	"time"

	"golang.org/x/sys/windows/svc"
)

const (
	// EX_CONFIG: the configuration must be corrected first (sysexits.h).
	exitConfig = 78
	// EX_IOERR: the store is newer, damaged or unsafe; a restart does not help.
	exitStore    = 74
	restartAfter = time.Second
	// The bridge needs 16 s at most (behaviour 1.6), with command sinks; Windows gives 20 s when it shuts down.
	stopLimit = 18 * time.Second
	accepted  = svc.AcceptStop | svc.AcceptPreShutdown | svc.AcceptParamChange
)

type service struct {
	home, data string
	report     *report
}

// Execute returns when the service must stop: on request, or because a restart would not help.
func (s *service) Execute(_ []string, requests <-chan svc.ChangeRequest, status chan<- svc.Status) (bool, uint32) {
	status <- svc.Status{State: svc.StartPending}
	s.report.info("the service starts")
	for {
		running, err := startProgram(s.home, s.data, s.report)
		status <- svc.Status{State: svc.Running, Accepts: accepted}
		var code int
		if err != nil {
			s.report.failure(fmt.Sprintf("node.exe cannot be started: %v", err))
		} else if wasAsked := s.follow(running, requests, status, &code); wasAsked {
			return false, 0
		} else if code == exitConfig || code == exitStore {
			s.report.staysStopped(code)
			status <- svc.Status{State: svc.StopPending}
			return true, uint32(code)
		} else {
			s.report.ended(code)
		}
		if s.pause(requests, status) {
			return false, 0
		}
	}
}

// Returns true if it was stopped on request; false if the program ended by itself, with code.
func (s *service) follow(running *program, requests <-chan svc.ChangeRequest, status chan<- svc.Status, code *int) bool {
	for {
		select {
		case *code = <-running.ended:
			return false
		case request := <-requests:
			switch request.Cmd {
			case svc.Interrogate:
				status <- request.CurrentStatus
			case svc.ParamChange:
				running.send("reload")
				status <- request.CurrentStatus
			case svc.Stop, svc.PreShutdown:
				s.stop(running, status)
				return true
			}
		}
	}
}

// Lets deliveries end, and reports progress to the service manager each second.
func (s *service) stop(running *program, status chan<- svc.Status) {
	running.send("stop")
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	limit := time.After(stopLimit)
	for checkpoint := uint32(1); ; checkpoint++ {
		status <- svc.Status{State: svc.StopPending, CheckPoint: checkpoint, WaitHint: uint32(stopLimit.Milliseconds())}
		select {
		case <-running.ended:
			s.report.info("the service has stopped")
			return
		case <-limit:
			running.kill()
			s.report.failure("the bridge did not stop in time and was killed; remaining deliveries go out after the next start")
			return
		case <-tick.C:
		}
	}
}

// Waits before the next start; returns true if a stop was requested meanwhile.
func (s *service) pause(requests <-chan svc.ChangeRequest, status chan<- svc.Status) bool {
	due := time.After(restartAfter)
	for {
		select {
		case <-due:
			return false
		case request := <-requests:
			switch request.Cmd {
			case svc.Stop, svc.PreShutdown:
				status <- svc.Status{State: svc.StopPending}
				return true
			default:
				status <- request.CurrentStatus
			}
		}
	}
}
