//go:build windows

// The entry of the service: created, updated, queried, removed.
package main

import (
	"errors"
	"fmt"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/svc"
	"golang.org/x/sys/windows/svc/eventlog"
	"golang.org/x/sys/windows/svc/mgr"
)

const (
	// A dedicated account that Windows manages without a password.
	account = `NT SERVICE\` + serviceName
	// After this time the count of failures restarts; every failure has the same action.
	forgetFailures = 24 * 60 * 60
	preShutdownMs  = 20_000
)

var wanted = mgr.Config{
	DisplayName:      "Scheduled Events bridge",
	Description:      "Delivers Azure Scheduled Events of this VM as CloudEvents.",
	StartType:        mgr.StartAutomatic,
	ErrorControl:     mgr.ErrorNormal,
	DelayedAutoStart: true,
	ServiceStartName: account,
}

func register() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	manager, err := connect()
	if err != nil {
		return err
	}
	defer manager.Disconnect()
	service, err := entered(manager, self)
	if err != nil {
		return fmt.Errorf("the service cannot be registered: %w", err)
	}
	defer service.Close()
	restart := mgr.RecoveryAction{Type: mgr.ServiceRestart, Delay: time.Second}
	if err := service.SetRecoveryActions([]mgr.RecoveryAction{restart, restart, restart}, forgetFailures); err != nil {
		return fmt.Errorf("the restart after a crash cannot be configured: %w", err)
	}
	// The default at a shutdown of Windows is 10 s. Deliveries that do not end in time go out after the next start.
	timeout := uint32(preShutdownMs)
	_ = windows.ChangeServiceConfig2(service.Handle, windows.SERVICE_CONFIG_PRESHUTDOWN_INFO, (*byte)(unsafe.Pointer(&timeout)))
	return setEventSource(serviceName)
}

// reload makes the running service read its configuration again.
func reload() error {
	manager, err := connect()
	if err != nil {
		return err
	}
	defer manager.Disconnect()
	service, err := manager.OpenService(serviceName)
	if err != nil {
		return fmt.Errorf("the service is not accessible: %w", err)
	}
	defer service.Close()
	if _, err := service.Control(svc.ParamChange); err != nil {
		return fmt.Errorf("the request did not reach the service: %w", err)
	}
	return nil
}

func connect() (*mgr.Mgr, error) {
	manager, err := mgr.Connect()
	if err != nil {
		return nil, fmt.Errorf("access to the service manager was denied (run as an administrator): %w", err)
	}
	return manager, nil
}

func entered(manager *mgr.Mgr, self string) (*mgr.Service, error) {
	service, err := manager.OpenService(serviceName)
	if errors.Is(err, windows.ERROR_SERVICE_DOES_NOT_EXIST) {
		return manager.CreateService(serviceName, self, wanted, "service")
	}
	if err != nil {
		return nil, err
	}
	// After the registration, account and start type belong to the administrator.
	if err := setProgram(service, self); err != nil {
		service.Close()
		return nil, err
	}
	return service, nil
}

func setProgram(service *mgr.Service, self string) error {
	command, err := windows.UTF16PtrFromString(windows.ComposeCommandLine([]string{self, "service"}))
	if err != nil {
		return err
	}
	const same = windows.SERVICE_NO_CHANGE
	return windows.ChangeServiceConfig(service.Handle, same, same, same, command, nil, nil, nil, nil, nil, nil)
}

func unregister() error {
	manager, err := connect()
	if err != nil {
		return err
	}
	defer manager.Disconnect()
	service, err := manager.OpenService(serviceName)
	if err == nil {
		defer service.Close()
		err = service.Delete()
	}
	if err != nil && !errors.Is(err, windows.ERROR_SERVICE_DOES_NOT_EXIST) {
		return fmt.Errorf("the service cannot be removed: %w", err)
	}
	_ = eventlog.Remove(serviceName)
	return nil
}
