// A delivery → its program's environment (behaviour 10.2), and the names of omitted fields.
import { win32 } from 'node:path';
import { objectOf } from '../../src/formats/json-object.ts';
import type { Delivery } from '../../src/model/deliveries.ts';
import { reveal, type Secret } from '../../src/secrets/secret.ts';

type Variables = Readonly<Record<string, string | undefined>>;

/** The maximum size of a field, in bytes. */
const LARGEST_BYTES = 32 * 1024;
const INHERITED = ['PATH', 'HOME', 'LANG', 'TZ'];
/** Few programs start without these on Windows. */
const INHERITED_ON_WINDOWS = 'PATH PATHEXT LANG TZ SystemRoot SystemDrive windir ComSpec TEMP TMP USERPROFILE'.split(
  ' ',
);
/** Attributes that are not extensions (CloudEvents 1.0.2), and `data`. */
const NOT_TOLD = new Set(['specversion', 'datacontenttype', 'dataschema', 'data', 'data_base64']);
/** Members of `data`, by the names of their variables. */
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
  /** The names of fields that are omitted because they contain NUL or are too long. */
  readonly leftOut: readonly string[];
  /** In milliseconds since 1970; null if the event has no NotBefore. */
  readonly notBeforeMs: number | null;
}

/** Returns the variables of a CloudEvent. @throws SyntaxError if it is not valid JSON */
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
  const texts = told.flatMap(([name, value]) =>
    value === undefined || value === null ? [] : [[name, textOf(value)] as const],
  );
  const notBeforeMs = typeof data['notBefore'] === 'string' ? Date.parse(data['notBefore']) : Number.NaN;
  return {
    variables: Object.fromEntries(texts.filter(([, text]) => fits(text))),
    leftOut: texts.filter(([, text]) => !fits(text)).map(([name]) => name),
    notBeforeMs: Number.isNaN(notBeforeMs) ? null : notBeforeMs,
  };
}

/** Returns the other variables: a few of the bridge's own environment, and the configured ones. */
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

/** Returns the folders in which a program is looked up, in order. */
export function searchPath(own: Variables, platform: NodeJS.Platform): readonly string[] {
  const isWindows = platform === 'win32';
  const folders = (own['PATH'] ?? (isWindows ? '' : '/usr/local/bin:/usr/bin:/bin')).split(
    isWindows ? win32.delimiter : ':',
  );
  return folders.filter((folder) => folder !== '');
}

/** Returns the file extensions of programs; only Windows has any. */
export function programExtensions(own: Variables, platform: NodeJS.Platform): readonly string[] {
  return platform === 'win32' ? (own['PATHEXT'] ?? '.EXE;.CMD;.BAT').split(';') : [];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function fits(text: string): boolean {
  return !text.includes('\0') && Buffer.byteLength(text) <= LARGEST_BYTES;
}
