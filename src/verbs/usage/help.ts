// The verbs → the texts of `--help`: of the command, and of one verb.
import packageJson from '../../../package.json' with { type: 'json' };
import { EXIT, type Verb, type VerbTable } from '../verb.ts';

export const COMMAND = 'scheduled-events-bridge';
export const SUMMARY = 'Azure Scheduled Events as a stream of CloudEvents';
/** Names the configuration if --config is not given: packages and images set it. */
export const CONFIG_VARIABLE = 'SCHEDULED_EVENTS_BRIDGE_CONFIG';

/** The exit codes of all verbs, with their meanings. */
export const EXIT_CODES = [
  [EXIT.fine, 'success'],
  [EXIT.failed, 'failed'],
  [EXIT.usage, 'wrong usage'],
  [EXIT.locked, 'store locked'],
  [EXIT.config, 'bad configuration'],
] as const;

/** Returns the text as a sentence: with a capital letter and a full stop. */
export function sentence(text: string): string {
  return `${text[0]?.toUpperCase() ?? ''}${text.slice(1)}.`;
}

/** Returns the text of `--help`. */
export function overview(verbs: VerbTable): string {
  const rows = Object.entries(verbs).map(([name, { summary }]) => `  ${name.padEnd(14)}${summary}`);
  return [
    `${COMMAND} ${packageJson.version}: ${SUMMARY}`,
    '',
    `Usage: ${COMMAND} VERB [options]`,
    '',
    ...rows,
    '',
    `${CONFIG_VARIABLE} names the configuration if --config is not given.`,
    `${COMMAND} VERB --help shows more. Exit codes: ${EXIT_CODES.map((row) => row.join(' ')).join(', ')}.`,
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
    sentence(summary),
    verb.description,
    ...(rows.length > 0 ? ['', 'Options:', ...rows] : []),
    '',
    'Examples:',
    ...examples,
  ].join('\n');
}
