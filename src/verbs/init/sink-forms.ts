// `TYPE` or `TYPE=VALUE` of --sink → an entry of `sinks` in the form of the file. Pure.
import { isIP, isIPv4 } from 'node:net';
import { basename, isAbsolute, resolve } from 'node:path';
import { kindByOtherName } from '../../config/other-names.ts';
import { hostOf } from '../../net/http-exchange.ts';
import { addressJudge, isLoopback } from '../../net/private-addresses.ts';
import { nearest } from '../../schema/faults.ts';

/** A sink in the form of the configuration file. */
export type SinkEntry = { readonly type: string } & Readonly<Record<string, unknown>>;

interface SinkForm {
  /** The value, as help and questions show it; null if the type takes none. */
  readonly value: string | null;
  readonly purpose: string;
  /** Returns the keys of the entry without `type`, or what the value must be. */
  readonly read: (value: string, path: (given: string) => string) => Readonly<Record<string, unknown>> | string;
}

/** The types that one value configures. Every other type needs more keys than one. */
export const SINK_FORMS: Readonly<Record<string, SinkForm>> = {
  stdout: { value: null, purpose: 'lines on standard output', read: () => ({}) },
  file: { value: 'PATH', purpose: 'lines of a file', read: (value, path) => ({ path: path(value) }) },
  webhook: { value: 'URL', purpose: 'an HTTP receiver of CloudEvents', read: httpTarget },
  kafka: { value: 'BROKER,…/TOPIC', purpose: 'a topic of Kafka or Event Hubs', read: kafkaTopic },
  'service-bus': { value: 'NAMESPACE/TOPIC', purpose: 'a topic of Service Bus', read: busTopic },
  command: { value: 'PROGRAM', purpose: 'a program for each CloudEvent', read: program },
  kubernetes: { value: 'STEP,…', purpose: 'prepares the node: event, condition, taint, cordon, drain', read: steps },
  syslog: { value: 'URL', purpose: 'a syslog server: tls://HOST:PORT, unix:PATH', read: (server) => ({ server }) },
  otlp: { value: 'URL', purpose: 'an OpenTelemetry receiver', read: httpTarget },
  elasticsearch: { value: 'URL', purpose: 'Elasticsearch or OpenSearch', read: httpTarget },
};

/** `webhook=URL`, `stdout`: all forms for help and questions. */
export function sinkForms(): readonly (readonly [form: string, purpose: string])[] {
  return Object.entries(SINK_FORMS).map(([type, { value, purpose }]) => [
    value === null ? type : `${type}=${value}`,
    purpose,
  ]);
}

/**
 * Returns the entry, or the fault in the text. The configuration's own check finds the faults of the values.
 * @param types all types of sinks
 * @param path returns a path of the user as the configuration file must name it
 */
export function sinkEntry(text: string, types: readonly string[], path: (given: string) => string): SinkEntry | string {
  const [type = '', ...rest] = text.split('=');
  const value = rest.length === 0 ? null : rest.join('=');
  if (!types.includes(type)) return unknownType(type, types);
  const form = SINK_FORMS[type];
  if (form === undefined)
    return value === null ? { type } : `"${type}" needs more than one value: add it to the file by hand`;
  if (form.value === null) return value === null ? { type } : `"${type}" takes no value`;
  if (value === null || value === '') return `"${type}" needs a value: ${type}=${form.value}`;
  const keys = form.read(value, path);
  return typeof keys === 'string' ? `"${type}" ${keys}` : { type, ...keys };
}

function unknownType(type: string, types: readonly string[]): string {
  const meant = kindByOtherName(type, types) ?? nearest(type, types);
  const suggestion = meant === undefined ? '' : `; did you mean ${meant}?`;
  return `"${type}" is not a type of sink (${types.join(', ')})${suggestion}`;
}

/** Allows what the URL itself asks for: http, and an address of this machine or its network. */
function httpTarget(url: string): Readonly<Record<string, unknown>> {
  const target = URL.parse(url);
  if (target === null) return { url };
  const ranges = privateRanges(hostOf(target));
  return {
    url,
    ...(target.protocol === 'http:' && { allowInsecure: true }),
    ...(ranges.length > 0 && { allowPrivate: ranges }),
  };
}

function privateRanges(host: string): readonly string[] {
  if (isLoopback(host)) return ['127.0.0.0/8', '::1/128'];
  return isIP(host) !== 0 && addressJudge([])(host) === 'private' ? [`${host}/${isIPv4(host) ? 32 : 128}`] : [];
}

function kafkaTopic(value: string): Readonly<Record<string, unknown>> | string {
  const at = value.lastIndexOf('/');
  if (at < 1) return 'needs BROKER,…/TOPIC, such as b1.example.com:9093,b2.example.com:9093/maintenance';
  return { brokers: value.slice(0, at).split(','), topic: value.slice(at + 1) };
}

function busTopic(value: string): Readonly<Record<string, unknown>> | string {
  const at = value.indexOf('/');
  if (at < 1) return 'needs NAMESPACE/TOPIC, such as my-ns.servicebus.windows.net/maintenance';
  const namespace = value.slice(0, at);
  const isName = !namespace.includes('.') && !namespace.includes(':') && namespace !== 'localhost';
  return { namespace: isName ? `${namespace}.servicebus.windows.net` : namespace, topic: value.slice(at + 1) };
}

/** A name is looked up in PATH; a path with a folder must be absolute. */
function program(value: string): Readonly<Record<string, unknown>> {
  const isName = basename(value) === value;
  return { run: [isName || isAbsolute(value) ? value : resolve(value)] };
}

function steps(value: string): Readonly<Record<string, unknown>> {
  return { prepare: value.split(',') };
}
