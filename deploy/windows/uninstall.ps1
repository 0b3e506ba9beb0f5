# Removes the service scheduled-events-bridge and its program. Configuration and state stay, unless -Purge is given.
# Run it in PowerShell as an administrator, from any folder except the program's:
#   powershell -ExecutionPolicy Bypass -File .\uninstall.ps1 [-Purge]
#Requires -Version 5.1
#Requires -RunAsAdministrator
[CmdletBinding()]
param(
    # Also deletes configuration, secrets, store and logs.
    [switch] $Purge
)
Set-StrictMode -Version 3.0
$ErrorActionPreference = 'Stop'

$name = 'scheduled-events-bridge'
$program = Join-Path $env:ProgramFiles $name
$data = Join-Path $env:ProgramData $name

if (Get-Service $name -ErrorAction SilentlyContinue) {
    Stop-Service $name
    & (Join-Path $PSScriptRoot 'scheduled-events-bridge-service.exe') unregister
    if ($LASTEXITCODE -ne 0) { throw "the service could not be removed (code $LASTEXITCODE)" }
}
if (Test-Path $program) { Remove-Item $program -Recurse -Force }
if ($Purge -and (Test-Path $data)) { Remove-Item $data -Recurse -Force }
