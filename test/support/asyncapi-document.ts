// A configuration → its AsyncAPI document; a message of a channel → whether it fits the document.
import { Ajv, type ValidateFunction } from 'ajv';
import formats from 'ajv-formats';
import { ADAPTERS } from '../../adapters/index.ts';
import { asyncApiDocument } from '../../src/asyncapi/document.ts';
import { checkConfig, configError } from '../../src/config/check-config.ts';
import type { Config } from '../../src/config/config.ts';

export interface Message {
  readonly name: string;
  readonly title: string;
  readonly contentType?: string;
  readonly headers?: object;
  readonly payload?: object;
  readonly bindings?: object;
  readonly examples?: readonly { readonly headers?: object; readonly payload: unknown }[];
}

export interface AsyncApi {
  readonly asyncapi: string;
  readonly servers: Readonly<Record<string, { readonly host: string; readonly protocol: string }>>;
  readonly channels: Readonly<
    Record<string, { readonly address: string | null; readonly messages: Readonly<Record<string, Message>> }>
  >;
  readonly operations: Readonly<
    Record<string, { readonly action: string; readonly channel: { readonly $ref: string } }>
  >;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

export type Schema = Readonly<Record<string, unknown>>;

export interface SentMessage {
  readonly headers?: object | undefined;
  readonly payload: unknown;
}

/** Checks a configuration with the real adapters. @throws BridgeError BRIDGE_CONFIG_INVALID */
export function configWith(sections: object, env: Readonly<Record<string, string>> = {}): Config {
  const file = { version: 1, ...sections };
  const checked = checkConfig(file, { adapters: ADAPTERS, env, directory: '/etc/bridge', readFile: () => '' });
  if ('faults' in checked) throw configError(checked.faults);
  return checked.options;
}

/** The document as it is served. */
export function asyncApiOf(sections: object, env?: Readonly<Record<string, string>>): AsyncApi {
  return JSON.parse(JSON.stringify(asyncApiDocument(configWith(sections, env)))) as AsyncApi;
}

/** Returns functions that say what is wrong with a message, or an empty text if it fits. */
export function messageFaults(document: AsyncApi) {
  const ajv = new Ajv({
    strict: true,
    strictRequired: false,
    strictTypes: false,
    allowUnionTypes: true,
    allErrors: true,
  });
  formats.default(ajv);
  ajv.addVocabulary(['components', 'discriminator']);
  ajv.addSchema({ $id: 'https://asyncapi.invalid/document', components: document.components });
  const validators = new Map<string, ValidateFunction>();
  const faultsOf = (schema: object | undefined, value: unknown) => {
    if (schema === undefined) return '';
    const text = JSON.stringify(schema).replaceAll('"#/components/', '"https://asyncapi.invalid/document#/components/');
    const validate = validators.get(text) ?? ajv.compile(JSON.parse(text) as object);
    validators.set(text, validate);
    return validate(value) ? '' : ajv.errorsText(validate.errors);
  };
  /** Without headers, only the payload counts. */
  const ofMessage = (message: Message, { headers, payload }: SentMessage) =>
    [headers === undefined ? '' : faultsOf(message.headers, headers), faultsOf(message.payload, payload)]
      .filter(Boolean)
      .join('; ');
  /** The message fits if it fits one message of the channel. */
  const ofChannel = (channel: string, sent: SentMessage) => {
    const messages = Object.values(document.channels[channel]?.messages ?? {});
    const faults = messages.map((message) => ofMessage(message, sent));
    return faults.includes('') ? '' : faults.join('\n') || `no channel ${channel}`;
  };
  return { ofMessage, ofChannel };
}
