// `init`: options, or a person's answers → a configuration with comments, and files with tokens.
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { pino } from 'pino';
import { ADAPTERS } from '../../../adapters/index.ts';
import { checkConnections, checkSink } from '../../bridge/connections.ts';
import type { CheckedConfig, ValidConfig } from '../../config/check-config.ts';
import type { Config } from '../../config/config.ts';
import { warningLine } from '../../config/warnings.ts';
import { visibleLine } from '../../formats/visible-text.ts';
import { LINK_LOCAL_ENDPOINT } from '../../metadata/discovery.ts';
import { hostOf } from '../../net/http-exchange.ts';
import { isLoopback } from '../../net/private-addresses.ts';
import { formatFault } from '../../schema/faults.ts';
import { readRegularFile } from '../../secrets/regular-file.ts';
import { endpointOption } from '../metadata-service.ts';
import { EXIT, optionText, optionTexts, usageError, type Verb, type VerbContext } from '../verb.ts';
import type { Answers, TextParts } from './config-text.ts';
import { describeMachine, PATIENCE_MS, platformOf } from './machine.ts';
import { expectNew, type NewFile, writeNew } from './new-files.ts';
import { type SinkEntry, sinkEntry, sinkForms } from './sink-forms.ts';

/** With one of them, nothing is asked. */
const ANSWERS = ['endpoint', 'listen', 'store', 'console', 'sink', 'approver'];
const TOKEN_BYTES = 32;
/** The folder of the packages' service. */
const SERVICE_FOLDER = '/etc/scheduled-events-bridge';
const TYPES = ADAPTERS.map(({ type }) => type);

export const initVerb: Verb = {
  usage:
    '[--write FILE] [--endpoint URL] [--listen HOST:PORT] [--store PATH] [--console] [--sink TYPE[=VALUE]]… [--approver NAME]…',
  description: `Looks at this machine, asks for sinks and approvers, tries each answer as check --connect does, and writes a configuration with
comments that check accepts. Without --write it prints the configuration. It never overwrites a file: it exits with 1 if one is there. It sends no event.
With any option besides --write it asks nothing and needs no terminal; what it cannot reach is a warning. For each approver it makes a token, in
NAME.token next to FILE, which only its owner may read.
The forms of --sink: ${sinkForms()
    .map(([form]) => form)
    .join(', ')}. Other types, and more keys: docs/operate/configuration.md.`,
  options: {
    write: { type: 'string', value: 'FILE', help: 'the file to write; its folder must exist' },
    endpoint: {
      type: 'string',
      value: 'URL',
      help: `the metadata service (default ${LINK_LOCAL_ENDPOINT}); no other one is contacted`,
    },
    listen: { type: 'string', value: 'HOST:PORT', help: 'the address of the HTTP interface (default 127.0.0.1:8700)' },
    store: { type: 'string', value: 'PATH', help: 'the folder of the durable store' },
    console: { type: 'boolean', help: 'serves the console, a web page for operators' },
    sink: {
      type: 'string',
      value: 'TYPE[=VALUE]',
      multiple: true,
      help: 'a destination of CloudEvents; can be repeated (default stdout)',
    },
    approver: {
      type: 'string',
      value: 'NAME',
      multiple: true,
      help: 'who may approve; can be repeated (default nobody)',
    },
  },
  examples: [
    ['scheduled-events-bridge init --write bridge.yaml', 'asks on the terminal'],
    [
      'scheduled-events-bridge init --write bridge.yaml --sink webhook=https://hooks.example.com/maintenance --approver orders',
      'asks nothing, for scripts',
    ],
  ],
  async run(context) {
    const file = optionText(context, 'write');
    if (file !== undefined) expectNew([file]);
    const hasOptions = ANSWERS.some((name) => context.values[name] !== undefined);
    const parts = hasOptions ? await fromOptions(context, file) : await fromTerminal(context, file);
    if (parts === null) return EXIT.failed;
    const { configText, tokenFile } = await import('./config-text.ts');
    const text = configText(parts);
    const tokens = parts.approvers.map((name): NewFile => {
      const token = Buffer.from(context.secureRandom(TOKEN_BYTES)).toString('base64url');
      return { path: join(folderOf(file), tokenFile(name)), text: `${token}\n`, isSecret: true };
    });
    expectNew(tokens.map(({ path }) => path));
    const { options: config, warnings } = await checked(context, file, parts);
    for (const warning of warnings) context.warn(visibleLine(warningLine(warning)));
    for (const { type, url } of parts.sinks.filter(isInTheClear))
      context.warn(visibleLine(`warning: --sink ${type}: everything goes to ${url} in the clear: use https`));
    if (hasOptions) await tryAll(context, config);
    writeNew([...tokens, ...(file === undefined ? [] : [{ path: file, text, isSecret: false }])]);
    if (file === undefined) await context.print(text.trimEnd());
    for (const { path } of tokens) context.warn(visibleLine(`made ${path}: give its token to that approver alone`));
    if (file !== undefined) context.warn(visibleLine(`wrote ${file}`));
    context.warn(visibleLine(`next: ${nextCommand(context, parts.file)}`));
    return EXIT.fine;
  },
};

function folderOf(file: string | undefined): string {
  return file === undefined ? '.' : dirname(file);
}

/** A path of the user, which counts from the current folder, as the configuration names it. */
function pathIn(file: string | undefined): (given: string) => string {
  const isHere = resolve(folderOf(file)) === resolve('.');
  return (given) => (isHere || isAbsolute(given) ? given : resolve(given));
}

async function fromOptions(context: VerbContext, file: string | undefined): Promise<TextParts> {
  const entries = (optionTexts(context, 'sink').length > 0 ? optionTexts(context, 'sink') : ['stdout']).map((text) => {
    const entry = sinkEntry(text, TYPES, pathIn(file));
    if (typeof entry === 'string') throw usageError(visibleLine(`--sink: ${entry}`));
    return entry;
  });
  const store = optionText(context, 'store');
  const answers: Answers = {
    endpoint: endpointOption(context),
    listen: optionText(context, 'listen') ?? null,
    store: store === undefined ? null : pathIn(file)(store),
    console: context.values['console'] === true,
    sinks: entries,
    approvers: [...new Set(optionTexts(context, 'approver'))],
  };
  // Wrong options are reported before anything is contacted.
  await checked(context, file, answers);
  return {
    ...answers,
    machine: await describeMachine(context, answers.endpoint ?? LINK_LOCAL_ENDPOINT),
    file: file ?? 'bridge.yaml',
  };
}

async function fromTerminal(context: VerbContext, file: string | undefined): Promise<TextParts | null> {
  if (!context.stdin.isTTY)
    throw usageError('standard input is no terminal to ask on: give an option, such as --sink stdout; see --help');
  const { ask, DialogEnded } = await import('./dialog.ts');
  try {
    const answers = await ask(context, {
      machine: (endpoint) => describeMachine(context, endpoint),
      entry: (text) => sinkEntry(text, TYPES, pathIn(file)),
      fault: async (given) => faultOf(await read(context, file, given)),
      unreachable: async (given) =>
        await unreachable(context, (await checked(context, file, given)).options, given.sinks),
    });
    return { ...answers, file: file ?? 'bridge.yaml' };
  } catch (error) {
    if (!(error instanceof DialogEnded)) throw error;
    context.warn('\nnothing was written');
    return null;
  }
}

/** @throws BridgeError BRIDGE_USAGE with every fault */
async function checked(context: VerbContext, file: string | undefined, answers: Answers): Promise<ValidConfig> {
  const found = await read(context, file, answers);
  const fault = faultOf(found);
  if (fault !== null || 'faults' in found) throw usageError(`these options give no valid configuration: ${fault}`);
  return found;
}

function faultOf(found: CheckedConfig): string | null {
  return 'faults' in found ? found.faults.map((fault) => visibleLine(formatFault(fault))).join('; ') : null;
}

/** Checks the text that would be written, with a token for each approver. */
async function read(context: VerbContext, file: string | undefined, answers: Answers): Promise<CheckedConfig> {
  const [{ readConfigFully }, { configText, tokenFile }] = await Promise.all([
    import('../../config/read-config.ts'),
    import('./config-text.ts'),
  ]);
  const directory = resolve(folderOf(file));
  const tokens = new Map(
    answers.approvers.map((name, index) => [join(directory, tokenFile(name)), `${'token-'.repeat(6)}${index}`]),
  );
  return await readConfigFully(configText({ ...answers, machine: '', file: '' }), {
    adapters: ADAPTERS,
    env: context.env,
    readFile: (path) => tokens.get(path) ?? readRegularFile(path),
    directory,
  });
}

/** Whether others on the way could read its deliveries. */
function isInTheClear({ url, allowInsecure }: SinkEntry): boolean {
  return allowInsecure === true && !isLoopback(hostOf(new URL(String(url))));
}

/** Reports what cannot be reached; the configuration may be for another machine, or for later. */
async function tryAll(context: VerbContext, config: Config): Promise<void> {
  const patient = { ...config, metadata: { ...config.metadata, firstTimeoutMs: PATIENCE_MS, timeoutMs: PATIENCE_MS } };
  for await (const { name, error } of checkConnections(patient, reachParts(context)))
    if (error !== null) context.warn(visibleLine(`warning: ${name}: ${error}`));
}

async function unreachable(context: VerbContext, config: Config, sinks: readonly SinkEntry[]): Promise<string | null> {
  const name = Object.keys(config.sinks).at(sinks.length - 1) ?? '';
  return (await checkSink(name, config, reachParts(context))).error;
}

function reachParts({ deps, stdout, signal, env }: VerbContext) {
  return { deps, stdout, signal, env, logger: pino({ level: 'silent' }) };
}

function nextCommand(context: VerbContext, file: string): string {
  if (platformOf(context) === 'kubernetes')
    return `put the configuration under "config" of the chart's values (docs/operate/kubernetes.md), or run it here: ${run(file)}`;
  if (dirname(resolve(file)) === SERVICE_FOLDER)
    return `follow "By questions" in docs/operate/install.md: the service reads ${SERVICE_FOLDER}/bridge.yaml, and tokens as credentials`;
  return run(file);
}

function run(file: string): string {
  return `scheduled-events-bridge run --config ${file}`;
}
