// The verbs with their options → the manual page of the Linux packages, in roff.
import { COMMAND, CONFIG_VARIABLE, EXIT_CODES, SUMMARY, sentence } from '../../src/verbs/usage/help.ts';
import type { Verb, VerbTable } from '../../src/verbs/verb.ts';

/** @param at the day of the page */
export async function manualPage(verbs: VerbTable, version: string, at: Date): Promise<string> {
  const sections = await Promise.all(
    Object.entries(verbs).map(async ([name, { summary, load }]) => verbLines(name, summary, await load())),
  );
  return [
    `.TH ${COMMAND.toUpperCase().replaceAll('-', '\\-')} 1 ${at.toISOString().slice(0, 10)} "${COMMAND} ${version}"`,
    '.SH NAME',
    `${roff(COMMAND)} \\- ${roff(SUMMARY)}`,
    '.SH SYNOPSIS',
    `.B ${roff(COMMAND)}`,
    '.I VERB',
    '[options]',
    '.SH DESCRIPTION',
    ...DESCRIPTION,
    '.SH VERBS',
    ...sections.flat(),
    '.SH FILES',
    ...FILES.flatMap(([path, purpose]) => ['.TP', `.I ${roff(path)}`, roff(purpose)]),
    '.SH ENVIRONMENT',
    '.TP',
    `.B ${CONFIG_VARIABLE}`,
    roff('The configuration, if --config is not given.'),
    '.SH EXIT STATUS',
    ...EXIT_CODES.flatMap(([code, meaning]) => ['.TP', `.B ${code}`, roff(sentence(meaning))]),
    '',
  ].join('\n');
}

const DESCRIPTION = [
  'Asks the metadata service of an Azure VM for Scheduled Events, and delivers each',
  'change as a CloudEvent to webhooks, brokers, files and log systems. Approvals go',
  'the other way.',
  '.PP',
  'The service is',
  `.BR ${roff(COMMAND)}.service .`,
  'Its log, and the CloudEvents of a fresh installation, are in',
  `.BR "journalctl \\-u ${roff(COMMAND)}" .`,
];

const FILES = [
  [`/etc/${COMMAND}/bridge.yaml`, 'The configuration: every key, as comments.'],
  [`/etc/${COMMAND}/environment`, 'NAME=VALUE lines with secrets, readable by root alone.'],
  [`/var/lib/${COMMAND}`, 'The store: changes, approvals and what is not delivered yet.'],
] as const;

function verbLines(name: string, summary: string, { usage, description, options, examples }: Verb): readonly string[] {
  return [
    `.SS ${roff(name)}`,
    ...usage
      .split('\n')
      .flatMap((line, index) => [
        ...(index === 0 ? [] : ['.br']),
        `.B ${roff(index === 0 ? `${COMMAND} ${name}` : line.trim())}`,
        ...(index === 0 && line !== '' ? [roff(line)] : []),
      ]),
    '.PP',
    roff(sentence(summary)),
    ...description.split('\n').flatMap((line) => ['.br', roff(line)]),
    ...Object.entries(options).flatMap(([option, { value, help }]) => [
      '.TP',
      value === undefined ? `.B ${roff(`--${option}`)}` : `.BI ${roff(`--${option}`)} " ${roff(value)}"`,
      roff(sentence(help)),
    ]),
    ...examples.flatMap(([command, purpose]) => [
      '.PP',
      roff(sentence(purpose)),
      '.br',
      `.RS 4`,
      '.nf',
      roff(command),
      '.fi',
      '.RE',
    ]),
  ];
}

/** Escapes backslashes, hyphens, and a dot or quote at the beginning of a line. */
function roff(text: string): string {
  const escaped = text.replaceAll('\\', '\\e').replaceAll('-', '\\-').replaceAll('…', '...').replaceAll('"', '\\(dq');
  return /^[.']/.test(escaped) ? `\\&${escaped}` : escaped;
}
