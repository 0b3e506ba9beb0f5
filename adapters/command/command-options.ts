// Configuration of a command sink → checked options, and the faults in their secrets.
import { posix, win32 } from 'node:path';
import * as v from 'valibot';
import type { OptionFault } from '../../src/schema/faults.ts';
import { duration, durationBetween, flag, name, rule, rules, secret, wholeNumber } from '../../src/schema/pieces.ts';
import { reveal, type Secret } from '../../src/secrets/secret.ts';
import type { SinkApprover } from '../adapter.ts';
import { batchFault, isBatchFile } from './command-line.ts';

const LONGEST = '24h';
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
const OURS = /^(CE|EVENT|BRIDGE)_/i;
const NO_NUL = 'must not hold a NUL character';
const OTHER_HOLD = 'must be the same name as approve: only the approver who holds an event can release it';
const NO_PROGRAM = 'must be the absolute path of a program, or a name without a folder, which is looked up in PATH';

const withoutNul = v.check((text: string) => !text.includes('\0'), NO_NUL);

function runEntry(platform: NodeJS.Platform) {
  const { isAbsolute } = platform === 'win32' ? win32 : posix;
  const isName = (text: string) => !/[/\\]/.test(text) && text !== '' && text !== '.' && text !== '..';
  return v.pipe(
    v.array(v.pipe(v.string(), withoutNul)),
    v.minLength(1, 'must name a program'),
    rules((run) => {
      const [program] = run;
      if (program === undefined) return [];
      const isFile = isAbsolute(program) || isName(program);
      const texts = platform === 'win32' && isBatchFile(program) ? run.map(batchFault) : [];
      return [
        ...(isFile ? [] : [{ path: [0], message: NO_PROGRAM }]),
        ...texts.flatMap((message, index) => (message === null ? [] : [{ path: [index], message }])),
      ];
    }),
    v.description(
      'The program and its arguments, without a shell. An absolute path, or a name that is looked up in PATH.',
    ),
  );
}

function userEntry(platform: NodeJS.Platform) {
  return v.pipe(
    v.union(
      [
        v.pipe(v.string(), v.regex(/^(?!-)[^\s:/\0]{1,256}$/, 'must be the name of a user, or a uid')),
        wholeNumber(0, 2 ** 32 - 2),
      ],
      'must be the name of a user, or a uid',
    ),
    v.check(() => platform !== 'win32', 'is not supported on Windows: run the bridge as that user'),
    v.description(
      'The user who runs the program, by name or uid, with the primary group, no other groups, and HOME of that user. Default: the user of the bridge.',
    ),
  );
}

const env = v.pipe(
  v.optional(
    v.record(
      v.pipe(
        v.string(),
        v.regex(VARIABLE, 'must be the name of a variable'),
        v.check((text) => !OURS.test(text), 'is set by the bridge: leave it out'),
      ),
      v.union([v.pipe(v.string(), withoutNul), secret()], 'must be text, { env: NAME } or { file: PATH }'),
    ),
    {},
  ),
  v.description(
    'Variables for the program, in addition to PATH, HOME, LANG, TZ and those about the event: texts or secrets.',
  ),
);

const beforeStart = v.pipe(
  durationBetween(
    '0s',
    LONGEST,
    'How long before NotBefore the bridge ends a run for scheduled or updated, and starts no new one.',
  ),
  v.description(
    'How long before NotBefore the bridge ends a run for scheduled or updated, and starts no new one. From 0s to 24h. Default: no such limit.',
  ),
);

const timeout = v.pipe(
  duration(),
  v.check((ms) => ms >= 10 && ms <= 86_400_000, `must be between 10ms and ${LONGEST}`),
);

/** The command sink's options (behaviour 10.1), as this platform has them. */
export function commandOptions(platform: NodeJS.Platform) {
  return v.pipe(
    v.strictObject({
      type: v.pipe(v.optional(v.literal('command')), v.description('The kind of sink.')),
      run: runEntry(platform),
      env,
      directory: v.exactOptional(
        v.pipe(
          v.string(),
          v.check((text) => text !== '' && !text.includes('\0'), 'must be the path of a folder'),
          v.description(
            "Where the program runs. Relative to the configuration file. Default: the bridge's own folder.",
          ),
        ),
      ),
      user: v.exactOptional(userEntry(platform)),
      timeout: v.pipe(
        v.optional(timeout, '10m'),
        v.description(
          'How long a run may take. Its process group then gets TERM, and KILL after 5 s. From 10ms to 24h. Default 10m.',
        ),
      ),
      concurrency: v.pipe(
        v.optional(wholeNumber(1, 64), 4),
        v.description('How many programs run at once; at most one for each event. From 1 to 64. Default 4.'),
      ),
      approve: v.exactOptional(
        v.pipe(
          name(),
          v.description(
            'The approver in whose name the sink approves: exit code 0 of a run for scheduled or updated is a yes.',
          ),
        ),
      ),
      hold: v.exactOptional(
        v.pipe(
          name(),
          v.description('The same name as approve: every other approval of the event waits for that yes.'),
        ),
      ),
      beforeStart: v.exactOptional(beforeStart),
      cancel: flag(
        false,
        'true: if the event has changed, started or ended since, the bridge ends the run and counts it as accepted. Default false.',
      ),
    }),
    rule('hold', ({ hold, approve }) => hold === undefined || hold === approve, OTHER_HOLD),
  );
}

export type CommandOptions = v.InferOutput<ReturnType<typeof commandOptions>>;

/** Returns the faults in the values of the secrets. */
export function variableFaults({ env }: CommandOptions): readonly OptionFault[] {
  const spoilt = Object.entries<string | Secret>(env).filter(([, value]) => reveal(value).includes('\0'));
  return spoilt.map(([key]) => ({ key: `env.${key}`, message: NO_NUL }));
}

/** Returns the values of the secrets in `env`. */
export function secretValues({ env }: CommandOptions): readonly string[] {
  return Object.values<string | Secret>(env).flatMap((value) => (typeof value === 'string' ? [] : [value.reveal()]));
}

export function commandApprover({ approve, hold }: CommandOptions): SinkApprover | null {
  return approve === undefined ? null : { name: approve, holds: hold !== undefined };
}
