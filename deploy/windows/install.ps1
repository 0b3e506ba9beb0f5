# Installs or upgrades the service scheduled-events-bridge from the unpacked folder that contains this script.
# Does not change configuration and state in %ProgramData%\scheduled-events-bridge. In PowerShell, as an administrator:
#   powershell -ExecutionPolicy Bypass -File .\install.ps1 [-NoStart]
#Requires -Version 5.1
#Requires -RunAsAdministrator
[CmdletBinding()]
param(
    # Registers the service without starting it.
    [switch] $NoStart
)
Set-StrictMode -Version 3.0
$ErrorActionPreference = 'Stop'

$name = 'scheduled-events-bridge'
$program = Join-Path $env:ProgramFiles $name
$data = Join-Path $env:ProgramData $name
$config = Join-Path $data 'bridge.yaml'
$next = "$program.new"
$last = "$program.old"
$system = 'S-1-5-18'
$administrators = 'S-1-5-32-544'

function Invoke-Program([string] $File, [string[]] $Arguments) {
    & $File @Arguments
    if ($LASTEXITCODE -ne 0) { throw "$File $Arguments ended with code $LASTEXITCODE" }
}

# SYSTEM and administrators have full access, the service's account has the given right, and others have none.
function Set-Rights([string] $Path, [string] $ServiceRight) {
    $rights = "*${system}:(OI)(CI)F", "*${administrators}:(OI)(CI)F"
    if ($ServiceRight) { $rights += "NT SERVICE\${name}:(OI)(CI)$ServiceRight" }
    Invoke-Program 'icacls.exe' (@($Path, '/inheritance:r', '/grant:r') + $rights + @('/Q'))
}

# 1. Any user may create a folder in %ProgramData%: a folder of another user is rejected, with its content.
if ($PSScriptRoot -eq $program) { throw 'run the install.ps1 of the unpacked .zip, not the installed one' }
if (Test-Path $data) {
    if ((Get-Item $data -Force).Attributes -band [IO.FileAttributes]::ReparsePoint) { throw "$data leads to another folder: remove it" }
    $owner = (Get-Acl $data).GetOwner([Security.Principal.SecurityIdentifier]).Value
    if ($owner -notin $system, $administrators) {
        throw "$data belongs to $owner. Look at what is in it, then remove it, or: icacls $data /setowner *$administrators"
    }
}

# 2. Copies the new program next to the old one, so that the service stops only for a moment.
foreach ($left in $next, $last) { if (Test-Path $left) { Remove-Item $left -Recurse -Force } }
Copy-Item $PSScriptRoot $next -Recurse
Get-ChildItem $next -Recurse -File | Unblock-File

# 3. Creates folders, and restricts access before it writes files: by default any user may create files in a folder of %ProgramData%.
# Writes a first configuration, but never changes an existing one.
if (-not (Test-Path $data)) {
    $null = New-Item -ItemType Directory -Path $data
    Set-Rights $data
}
$null = New-Item -ItemType Directory -Force -Path "$data\state", "$data\log", "$data\secrets"
Invoke-Program 'icacls.exe' @($data, '/setowner', "*$administrators", '/Q')
if (-not (Test-Path $config)) {
    $text = [IO.File]::ReadAllText((Join-Path $PSScriptRoot 'bridge.yaml')).Replace('C:\ProgramData', $env:ProgramData)
    [IO.File]::WriteAllText($config, $text)
}

# 4. Replaces the old program. If that fails, the old one is restored.
$service = Get-Service $name -ErrorAction SilentlyContinue
$wasRunning = $null -ne $service -and $service.Status -ne 'Stopped'
if ($wasRunning) { Stop-Service $name }
try {
    if (Test-Path $program) { Move-Item $program $last }
    Move-Item $next $program
    Invoke-Program "$program\scheduled-events-bridge-service.exe" @('register')
}
catch {
    if (Test-Path $last) {
        if (Test-Path $program) { Remove-Item $program -Recurse -Force }
        Move-Item $last $program
    }
    if ($wasRunning) { Start-Service $name }
    throw
}
if (Test-Path $last) { Remove-Item $last -Recurse -Force }

# 5. The service's account exists only from here on.
Set-Rights $data 'RX'
Set-Rights "$data\secrets" 'RX'
Set-Rights "$data\state" 'M'
Set-Rights "$data\log" 'M'

# 6. A service that an administrator has stopped stays stopped. A bad configuration ends the service within a second or two.
if (-not $NoStart -and ($null -eq $service -or $wasRunning)) {
    Start-Service $name
    Start-Sleep -Seconds 5
    if ((Get-Service $name).Status -ne 'Running') {
        & "$program\node.exe" "$program\dist\main.js" check --config $config
        Write-Warning "the service has stopped again; its log is $data\log\service.log"
    }
}
Write-Output "$name is installed in $program; its configuration is $config"
