@echo off
rem The command for Windows: its own Node, wherever this folder stands. Errors end in its exit code.
setlocal
if /i "%~1"=="run" goto run
"%~dp0node.exe" "%~dp0dist\main.js" %*
exit /b %errorlevel%
:run
rem A process that polls and sleeps needs no optimizing compiler and no roomy nursery.
"%~dp0node.exe" --no-opt --no-maglev --max-semi-space-size=1 "%~dp0dist\main.js" %*
exit /b %errorlevel%
