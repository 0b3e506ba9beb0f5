// The verbs → the texts of `--help`: of the command, and of one verb.
import packageJson from '../../../package.json' with { type: 'json' };
import type { Verb, VerbTable } from '../verb.ts';

export const COMMAND = 'scheduled-events-bridge';
/** Names the configuration if --config is not given: packages and images set it. */
export const CONFIG_VARIABLE = 'SCHEDULED_EVENTS_BRIDGE_CONFIG';

/** Returns the text of `--help`. */
export function overview(verbs: VerbTable): string {
  const rows = Object.entries(verbs).map(([name, { summary }]) => `  ${name.padEnd(14)}${summary}`);
  return [
    `${COMMAND} ${packageJson.version}: Azure Scheduled Events as a stream of CloudEvents`,
    '',
    `Usage: ${COMMAND} VERB [options]`,
    '',
    ...rows,
    '',
    `${CONFIG_VARIABLE} names the configuration if --config is not given.`,
    `${COMMAND} VERB --help shows more. Exit codes: 0 success, 1 failed, 2 wrong usage, 75 store locked, 78 bad configuration.`,
  ].join('\n');
}

/** Returns the text of `VERB --help`. */
export function help(name: string, summary: string, verb: Verb): string {
  const options = Object.entries(verb.options).map(
    ([option, { value, help: text }]) => [`  --${option}${value ? ` ${value}` : ''}`, text] as const,
  );
  const width = Math.max(26, ...options.map(([left]) => left.length + 2));
  const rows = options.map(([left, text]) => `${left.padEnd(width)}${text}`);
  const examples = verb.examples.flatMap(([command, purpose]) => [`  # ${purpose}`, `  ${command}`]);
  return [
    `Usage: ${COMMAND} ${name} ${verb.usage}`.trimEnd(),
    '',
    `${summary[0]?.toUpperCase()}${summary.slice(1)}.`,
    verb.description,
    ...(rows.length > 0 ? ['', 'Options:', ...rows] : []),
    '',
    'Examples:',
    ...examples,
  ].join('\n');
}
