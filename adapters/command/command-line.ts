// A program and its arguments → the command to start; on Windows, scripts get an interpreter.
import { win32 } from 'node:path';

/** One process to start, without a shell. */
export interface CommandLine {
  readonly file: string;
  readonly args: readonly string[];
  /** Windows: the arguments are quoted already. */
  readonly isVerbatim?: true;
}

/**
 * Characters without a meaning for cmd.exe, inside and outside quotes. cmd.exe parses the command line of a batch file
 * first, and no quoting protects `%`, `!`, `^` and `"` in every case (CVE-2024-27980).
 */
const PLAIN = /^[A-Za-z0-9 _.:\\/=@+,()-]*$/;

export function isBatchFile(program: string): boolean {
  return /\.(cmd|bat)$/i.test(program);
}

/** Returns a fault if cmd.exe could interpret this text, or null. */
export function batchFault(text: string): string | null {
  if (PLAIN.test(text) && !text.endsWith('\\')) return null;
  return 'may contain only letters, digits, blanks and _ . : \\ / = @ + , ( ) -, and must not end in \\, because cmd.exe reads it: use a .ps1 or .exe instead';
}

/**
 * @param program its absolute path
 * @param env the environment of the process, which names the folder of Windows
 */
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
