// A program and its arguments → what the system starts: itself, or what runs a script of Windows.
import { win32 } from 'node:path';

/** One process to start; no shell reads it. */
export interface CommandLine {
  readonly file: string;
  readonly args: readonly string[];
  /** Windows: the arguments are quoted already. */
  readonly isVerbatim?: true;
}

/**
 * What cmd.exe gives no meaning to, inside quotes and outside: cmd.exe reads the line of a batch file before the file does, and no quoting
 * holds against `%`, `!`, `^` and `"` in every case (CVE-2024-27980).
 */
const PLAIN = /^[A-Za-z0-9 _.:\\/=@+,()-]*$/;

export function isBatchFile(program: string): boolean {
  return /\.(cmd|bat)$/i.test(program);
}

/** Why cmd.exe might read this text in its own way; null where it cannot. */
export function batchFault(text: string): string | null {
  if (PLAIN.test(text) && !text.endsWith('\\')) return null;
  return 'may hold letters, digits, blanks and _ . : \\ / = @ + , ( ) - alone, and not end in \\, since cmd.exe reads it: use a .ps1 or .exe instead';
}

/** @param program its whole path @param env of the process, for where Windows is */
export function commandLine(
  program: string,
  args: readonly string[],
  { platform, env }: { readonly platform: NodeJS.Platform; readonly env: Readonly<Record<string, string | undefined>> },
): CommandLine {
  if (platform !== 'win32') return { file: program, args };
  const system = win32.join(env['SystemRoot'] ?? 'C:\\Windows', 'System32');
  if (/\.ps1$/i.test(program)) {
    const file = win32.join(system, 'WindowsPowerShell', 'v1.0', 'powershell.exe');
    return { file, args: ['-NoProfile', '-NonInteractive', '-ExecutionPolicy', 'Bypass', '-File', program, ...args] };
  }
  if (!isBatchFile(program)) return { file: program, args };
  const line = [program, ...args].map((text) => `"${text}"`).join(' ');
  return { file: win32.join(system, 'cmd.exe'), args: ['/d', '/s', '/v:off', '/c', `"${line}"`], isVerbatim: true };
}
