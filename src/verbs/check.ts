// `check`: a configuration → its faults and, with --connect, the state of far sides; or its schema.
import { pino } from 'pino';
import { ADAPTERS } from '../../adapters/index.ts';
import { checkConnections, checkLocally } from '../bridge/connections.ts';
import type { Config } from '../config/config.ts';
import { namedCertificates } from '../config/named-certificates.ts';
import { type Warning, warningLine } from '../config/warnings.ts';
import { expiryWarning } from '../diagnosis/certificates.ts';
import { unsafeStore } from '../diagnosis/places.ts';
import { visibleLine } from '../formats/visible-text.ts';
import { firstToExpire } from '../net/certificates.ts';
import { loadValidConfig } from './config.ts';
import { EXIT, needed, optionText, type Verb, type VerbContext } from './verb.ts';

export const checkVerb: Verb = {
  usage: '--config FILE [--connect] | --schema | --asyncapi [--config FILE] [--json]',
  description: `Lists every fault of the file in one run, each with its path, and exits with 78 if there is one. Valid settings that are probably a mistake are warnings
on standard error, for example files that others may change or read. So is the program of a command sink that could not start; check does not run it.
--connect also checks this machine (the store, the ports, the clock, the route to the metadata service, a container's network) and every far side: the metadata service, the identity provider of approvals.jwt, each sink and each source of approvals. It sends no event and takes no message. Exits with 1 if it finds a problem.
--asyncapi prints the AsyncAPI 3.1 document of the CloudEvents and approvals: for code generators, and for those who write a consumer. It contains no secret.`,
  options: {
    config: { type: 'string', value: 'FILE', help: 'the configuration' },
    connect: { type: 'boolean', help: 'also connects to the metadata service, each sink and each source of approvals' },
    schema: { type: 'boolean', help: 'prints the JSON Schema of the configuration' },
    asyncapi: {
      type: 'boolean',
      help: 'prints the AsyncAPI document of the configuration as YAML; without --config, of an example',
    },
    json: { type: 'boolean', help: 'with --asyncapi: prints JSON' },
  },
  examples: [
    ['scheduled-events-bridge check --config bridge.yaml --connect', 'before you start the bridge'],
    ['scheduled-events-bridge check --schema > bridge.schema.json', 'for your editor'],
    ['scheduled-events-bridge check --asyncapi --config bridge.yaml > asyncapi.yaml', 'for those who write a consumer'],
  ],
  async run(context) {
    if (context.values['schema']) {
      const { jsonSchema } = await import('../config/json-schema.ts');
      await context.print(JSON.stringify(jsonSchema(ADAPTERS), null, 2));
      return EXIT.fine;
    }
    if (context.values['asyncapi']) return await printAsyncApi(context);
    const file = needed(context, 'config');
    const { options: config, warnings } = await loadValidConfig(context, file);
    const unsafe = unsafeStore(config.store.path);
    // The error says the same of the folder.
    warn(context, unsafe === null ? warnings : warnings.filter(({ path }) => path !== 'store.path'));
    warnOfCertificates(context, config);
    const logger = pino({ level: 'silent' });
    const { deps, stdout, signal, env } = context;
    const parts = { deps, logger, stdout, signal, env };
    const connections = checkConnections(config, parts);
    if (!context.values['connect']) {
      for (const { name, error } of await checkLocally(config, parts)) {
        if (error !== null) context.warn(visibleLine(`warning: ${name}: ${error}`));
      }
      await context.print(`${file}: the configuration is valid`);
      if (unsafe === null) return EXIT.fine;
      await context.print(visibleLine(`store: ${unsafe}`));
      return EXIT.failed;
    }
    let reached = true;
    for await (const { name, error, found } of connections) {
      reached &&= error === null;
      await context.print(visibleLine(`${name}: ${error ?? healthyText(name, found)}`));
    }
    return reached ? EXIT.fine : EXIT.failed;
  },
};

async function printAsyncApi(context: VerbContext): Promise<number> {
  const [{ asyncApiDocument }, { exampleConfig }] = await Promise.all([
    import('../asyncapi/document.ts'),
    import('../asyncapi/example-config.ts'),
  ]);
  const file = optionText(context, 'config');
  const valid =
    file === undefined ? { options: exampleConfig(ADAPTERS), warnings: [] } : await loadValidConfig(context, file);
  warn(context, valid.warnings);
  const document = asyncApiDocument(valid.options);
  if (context.values['json']) await context.print(JSON.stringify(document, null, 2));
  else await context.print((await import('../schema/yaml.ts')).yamlText(document));
  return EXIT.fine;
}

function warn(context: VerbContext, warnings: readonly Warning[]): void {
  for (const warning of warnings) context.warn(visibleLine(warningLine(warning)));
}

function warnOfCertificates(context: VerbContext, config: Config): void {
  for (const { name, secret } of namedCertificates(config)) {
    const expiry = firstToExpire(secret.reveal());
    const warning = expiry === null ? null : expiryWarning({ name, ...expiry }, context.deps.wallMs());
    if (warning !== null) context.warn(visibleLine(`warning: ${warning}`));
  }
}

function healthyText(name: string, found: string | null): string {
  const isFarSide = /^(?:metadata$|sinks\.|approvals\.)/.test(name);
  return [isFarSide ? 'can be reached' : null, found].filter((text) => text !== null).join('; ');
}
