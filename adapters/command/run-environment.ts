// A delivery → the environment of the program that it runs (behaviour 10.2), and what was left out.
import { win32 } from 'node:path';
import { isObject, type JsonObject } from '../../src/formats/json-object.ts';
import type { Delivery } from '../../src/model/deliveries.ts';
import { reveal, type Secret } from '../../src/secrets/secret.ts';

type Variables = Readonly<Record<string, string | undefined>>;

/** What a field may take, in bytes. */
const LARGEST_BYTES = 32 * 1024;
const INHERITED = ['PATH', 'HOME', 'LANG', 'TZ'];
/** Without these hardly a program starts there. */
const INHERITED_ON_WINDOWS = [
  'PATH',
  'PATHEXT',
  'LANG',
  'TZ',
  'SystemRoot',
  'SystemDrive',
  'windir',
  'ComSpec',
  'TEMP',
  'TMP',
  'USERPROFILE',
];
/** Attributes that are no extension (CloudEvents 1.0.2), and `data`. */
const NOT_TOLD = new Set(['specversion', 'datacontenttype', 'dataschema', 'data', 'data_base64']);
/** Members of `data`, under the names that they have here. */
const FIELDS = {
  EVENT_ID: 'eventId',
  EVENT_TYPE: 'eventType',
  EVENT_STATUS: 'eventStatus',
  EVENT_SOURCE: 'eventSource',
  EVENT_RESOURCES: 'resources',
  EVENT_NOT_BEFORE: 'notBefore',
  EVENT_DURATION: 'durationInSeconds',
  EVENT_OUTCOME: 'outcome',
} as const;

export interface EventVariables {
  readonly variables: Readonly<Record<string, string>>;
  /** Names of those that no variable can hold: with NUL, or too long. */
  readonly leftOut: readonly string[];
  /** Milliseconds since 1970; null where the event names no time. */
  readonly notBeforeMs: number | null;
}

/** What the CloudEvent says. @throws SyntaxError where it is no JSON */
export function eventVariables({ bytes, change }: Pick<Delivery, 'bytes' | 'change'>): EventVariables {
  const event = objectOf(JSON.parse(Buffer.from(bytes).toString()));
  const data = objectOf(event['data']);
  const attributes = Object.entries(event).filter(([name]) => !NOT_TOLD.has(name));
  const told: readonly (readonly [string, unknown])[] = [
    ...attributes.map(([name, value]) => [`CE_${name.toUpperCase()}`, value] as const),
    ...Object.entries(FIELDS).map(([name, member]) => [name, data[member]] as const),
    ['EVENT_CHANGE', change],
    ['EVENT_AFFECTED', objectOf(data['observer'])['affected']],
  ];
  const texts = told.flatMap(([name, value]) => (value === undefined || value === null ? [] : [[name, textOf(value)] as const]));
  const notBeforeMs = typeof data['notBefore'] === 'string' ? Date.parse(data['notBefore']) : Number.NaN;
  return {
    variables: Object.fromEntries(texts.filter(([, text]) => fits(text))),
    leftOut: texts.filter(([, text]) => !fits(text)).map(([name]) => name),
    notBeforeMs: Number.isNaN(notBeforeMs) ? null : notBeforeMs,
  };
}

/** What the program gets besides: little of the bridge's own environment, and what is configured. */
export function ownVariables(
  own: Variables,
  configured: Readonly<Record<string, string | Secret>>,
  { home, platform }: { readonly home: string | null; readonly platform: NodeJS.Platform },
): Readonly<Record<string, string>> {
  const inherited = (platform === 'win32' ? INHERITED_ON_WINDOWS : INHERITED).flatMap((name) => {
    const value = name === 'HOME' && home !== null ? home : own[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const revealed = Object.entries(configured).map(([name, value]) => [name, reveal(value)] as const);
  return Object.fromEntries([...inherited, ...revealed]);
}

/** Where a program of this name is looked for, in order. */
export function searchPath(own: Variables, platform: NodeJS.Platform): readonly string[] {
  const isWindows = platform === 'win32';
  const folders = (own['PATH'] ?? (isWindows ? '' : '/usr/local/bin:/usr/bin:/bin')).split(isWindows ? win32.delimiter : ':');
  return folders.filter((folder) => folder !== '');
}

/** What a name may be followed by there; none but on Windows. */
export function programExtensions(own: Variables, platform: NodeJS.Platform): readonly string[] {
  return platform === 'win32' ? (own['PATHEXT'] ?? '.EXE;.CMD;.BAT').split(';') : [];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function fits(text: string): boolean {
  return !text.includes('\0') && Buffer.byteLength(text) <= LARGEST_BYTES;
}

function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}
