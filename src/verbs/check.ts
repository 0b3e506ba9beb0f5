// `check`: a configuration → its faults, or with --connect the far sides reached; or the schema.
import { pino } from 'pino';
import { ADAPTERS } from '../../adapters/index.ts';
import { checkConnections, checkLocally } from '../bridge/connections.ts';
import { visibleLine } from '../formats/visible-text.ts';
import { formatFault } from '../schema/faults.ts';
import { loadValidConfig } from './config.ts';
import { EXIT, needed, type Verb } from './verb.ts';

export const check: Verb = {
  usage: '--config FILE [--connect] | --schema',
  description: `Names every fault of the file in one run, each with its path, and exits with 78 if there is one. What is valid and probably not meant, as files that others may change or
read, or the program of a command sink that could not start, is a warning on standard error; it is not run.
--connect also looks for what stands in the way on this machine (the store, the ports, the clock, the route to the metadata service, a container's network), asks the metadata service for its document, the identity provider of approvals.jwt for its keys, each sink whether it would take a delivery, and each source of approvals whether it could be read; it sends no event and takes no message. Exits with 1 if one cannot be reached, or something stands in the way.`,
  options: {
    config: { type: 'string', value: 'FILE', help: 'the configuration' },
    connect: { type: 'boolean', help: 'also reaches the metadata service, each sink and each source of approvals' },
    schema: { type: 'boolean', help: 'prints the JSON Schema of the configuration' },
  },
  examples: [
    ['scheduled-events-bridge check --config bridge.yaml --connect', 'before you start it'],
    ['scheduled-events-bridge check --schema > bridge.schema.json', 'for your editor'],
  ],
  async run(context) {
    if (context.values['schema']) {
      const { jsonSchema } = await import('../config/json-schema.ts');
      await context.print(JSON.stringify(jsonSchema(ADAPTERS), null, 2));
      return EXIT.fine;
    }
    const file = needed(context, 'config');
    const { options: config, warnings } = await loadValidConfig(context, file);
    for (const warning of warnings) context.tell(visibleLine(`warning: ${formatFault(warning)}`));
    const logger = pino({ level: 'silent' });
    const { deps, stdout, signal, env } = context;
    const parts = { deps, logger, stdout, signal, env };
    const connections = checkConnections(config, parts);
    if (!context.values['connect']) {
      for (const { name, error } of await checkLocally(config, parts)) {
        if (error !== null) context.tell(visibleLine(`warning: ${name}: ${error}`));
      }
      await context.print(`${file}: the configuration is valid`);
      return EXIT.fine;
    }
    let reached = true;
    for await (const { name, error, found } of connections) {
      reached &&= error === null;
      await context.print(visibleLine(`${name}: ${error ?? wellOf(name, found)}`));
    }
    return reached ? EXIT.fine : EXIT.failed;
  },
};

function wellOf(name: string, found: string | null): string {
  const isFarSide = /^(?:metadata$|sinks\.|approvals\.)/.test(name);
  return [isFarSide ? 'can be reached' : null, found].filter((text) => text !== null).join('; ');
}
