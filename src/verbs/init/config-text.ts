// Answers of `init` → the text of a configuration with comments. Heavy (YAML): import it lazily.
import { asBlanks } from '../../formats/visible-text.ts';
import { yamlText } from '../../schema/yaml.ts';
import type { SinkEntry } from './sink-forms.ts';

export interface Answers {
  /** Null: the default, Azure's own address. */
  readonly endpoint: string | null;
  /** Null: the default. */
  readonly listen: string | null;
  readonly store: string | null;
  readonly console: boolean;
  readonly sinks: readonly SinkEntry[];
  readonly approvers: readonly string[];
}

export interface TextParts extends Answers {
  /** The machine, in words. */
  readonly machine: string;
  /** The file's name in the commands of its comments. */
  readonly file: string;
}

/** Returns the file of an approver's token, next to the configuration. */
export function tokenFile(approver: string): string {
  return `${approver}.token`;
}

/** Returns the configuration, with a line end at its end. */
export function configText({ machine, file, endpoint, listen, store, console, sinks, approvers }: TextParts): string {
  return [
    comment(
      `The configuration of scheduled-events-bridge, made by its verb init for ${machine}.`,
      `check it: scheduled-events-bridge check --config ${file} --connect`,
      `run it:   scheduled-events-bridge run --config ${file}`,
      `add to it: docs/operate/configuration.md has every key; check finds misspelled ones`,
    ),
    'version: 1\n',
    section(['The metadata service of Azure.'], { metadata: { endpoint: endpoint ?? 'http://169.254.169.254' } }),
    section(
      [
        'The address of health, metrics, events and approvals. Beyond loopback, add tls.',
        ...(console ? [] : ['console: true adds a web page for operators at /.']),
      ],
      { http: { listen: listen ?? '127.0.0.1:8700', console } },
    ),
    ...(store === null
      ? [
          comment(
            'store: { path: FOLDER } moves the durable store. Default: the folder of the service manager, or the one',
            'scheduled-events-bridge-data next to this file.',
          ),
        ]
      : [section(['The folder of the durable store.'], { store: { path: store } })]),
    approvalsText(approvers),
    section(['The destinations of CloudEvents. Each sink has its own queue and retries alone.'], {
      sinks: Object.fromEntries(named(sinks)),
    }),
  ].join('\n');
}

function approvalsText(approvers: readonly string[]): string {
  if (approvers.length === 0)
    return comment(
      'Nobody may approve yet: Azure starts every event at its NotBefore. To add an approver:',
      'approvals: { approvers: { NAME: { token: { file: NAME.token } } } }',
    );
  const entries = approvers.map((name) => [name, { token: { file: tokenFile(name) } }]);
  return section(
    [
      'Who may approve, each with its own token. One approval is enough; required: all asks everybody.',
      'admin: true next to a token also allows to pause sinks, to reload, and to release the holds of others.',
      'dryRun: true decides and records everything, and approves nothing: for the first days.',
    ],
    { approvals: { required: 'any', dryRun: false, approvers: Object.fromEntries(entries) } },
  );
}

/** The type is the name; the second sink of a type is `TYPE-2`. */
function named(sinks: readonly SinkEntry[]): readonly (readonly [string, SinkEntry])[] {
  return sinks.map((sink, index) => {
    const before = sinks.slice(0, index).filter(({ type }) => type === sink.type).length;
    return [before === 0 ? sink.type : `${sink.type}-${before + 1}`, sink];
  });
}

function section(comments: readonly string[], value: object): string {
  return `${comment(...comments)}${yamlText(value)}\n`;
}

/** Each line stays one line, whatever others have put into it. */
function comment(...lines: readonly string[]): string {
  return lines.map((line) => `# ${asBlanks(line)}\n`).join('');
}
