//go:build windows

// The program's folder → a running node.exe: its output goes to the report, its end to a channel.
package main

import (
	"io"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

type program struct {
	command *exec.Cmd
	control io.WriteCloser
	// Receives its exit code, once.
	ended chan int
}

func startProgram(home, data string, report *report) (*program, error) {
	main := filepath.Join(home, "dist", "main.js")
	config := filepath.Join(data, "bridge.yaml")
	command := exec.Command(filepath.Join(home, "node.exe"),
		"--no-opt", "--no-maglev", "--max-semi-space-size=1", main, "run", "--config", config, "--control-stdin")
	command.Dir = data
	// Without a console, only this process can reach it: no Ctrl+C, and no closing of consoles when Windows shuts down.
	command.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.DETACHED_PROCESS}
	command.Stdout = &lines{take: report.printed}
	command.Stderr = &lines{take: report.said}
	// Programs that it started may keep the pipes open.
	command.WaitDelay = 2 * time.Second
	control, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	report.begin()
	if err := command.Start(); err != nil {
		return nil, err
	}
	running := &program{command: command, control: control, ended: make(chan int, 1)}
	go func() {
		_ = command.Wait()
		running.ended <- command.ProcessState.ExitCode()
	}()
	return running, nil
}

// Writes one line to its standard input: stop or reload.
func (p *program) send(word string) {
	_, _ = io.WriteString(p.control, word+"\n")
}

func (p *program) kill() {
	_ = p.command.Process.Kill()
}

// All programs that this process starts from now on end with it, however it ends.
func endTogether() error {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return err
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE},
	}
	class := uint32(windows.JobObjectExtendedLimitInformation)
	if _, err := windows.SetInformationJobObject(job, class, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info))); err != nil {
		return err
	}
	return windows.AssignProcessToJobObject(job, windows.CurrentProcess())
}
