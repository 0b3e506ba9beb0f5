// The body of an export → the request in OTLP's JSON; throws for undefined members.
import assert from 'node:assert/strict';
import { isObject, type JsonObject } from '../../../src/formats/json-object.ts';
import { type FieldType, fieldsOf, type MessageName } from './messages.ts';

const WIRE_TYPES: Readonly<Record<string, number>> = {
  bool: 0,
  int64: 0,
  uint32: 0,
  enum: 0,
  double: 1,
  fixed64: 1,
  fixed32: 5,
};
const utf8 = new TextDecoder('utf-8', { fatal: true });

export function readProtobuf(bytes: Buffer, message: MessageName = 'Request'): JsonObject {
  const made: Record<string, unknown> = message === 'ArrayValue' ? { values: [] } : {};
  for (let at = 0; at < bytes.length; ) {
    const tag = varint(bytes, at);
    const [name, type] =
      fieldsOf(message)[Number(tag.value >> 3n)] ?? assert.fail(`${message} has no field ${tag.value >> 3n}`);
    assert.equal(Number(tag.value & 7n), WIRE_TYPES[type] ?? 2, `wire type of ${message}.${name}`);
    const { value, end } = read(bytes, tag.end, type);
    if (type.endsWith('[]')) made[name] = [...((made[name] as unknown[]) ?? []), value];
    else {
      assert.ok(!(name in made), `${message}.${name} twice`);
      made[name] = value;
    }
    at = end;
  }
  return made;
}

/** Throws if a name or type is not in the definitions. */
export function readJson(text: string): JsonObject {
  const value: unknown = JSON.parse(text);
  checkJson(value, 'Request');
  return value as JsonObject;
}

function checkJson(value: unknown, message: MessageName): void {
  assert.ok(isObject(value), message);
  const types = new Map(Object.values(fieldsOf(message)));
  for (const [name, member] of Object.entries(value)) {
    const type = types.get(name) ?? assert.fail(`${message} has no ${name}`);
    if (type.endsWith('[]')) for (const each of member as unknown[]) checkJson(each, type.slice(0, -2) as MessageName);
    else if (type in WIRE_TYPES || type === 'string' || type === 'id') checkScalar(member, type, name);
    else checkJson(member, type as MessageName);
  }
}

const SCALARS: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  bool: (value) => typeof value === 'boolean',
  double: (value) => typeof value === 'number',
  int64: (value) => typeof value === 'string' && /^-?\d+$/.test(value),
  fixed64: (value) => typeof value === 'string' && /^\d+$/.test(value),
  id: (value) => typeof value === 'string' && /^([0-9a-f]{16}|[0-9a-f]{32})$/.test(value),
};

function checkScalar(value: unknown, type: string, name: string): void {
  assert.ok((SCALARS[type] ?? Number.isInteger)(value), `${name} is no ${type}`);
}

function read(bytes: Buffer, at: number, type: FieldType): { readonly value: unknown; readonly end: number } {
  if (type === 'fixed64') return { value: String(bytes.readBigUInt64LE(at)), end: at + 8 };
  if (type === 'fixed32') return { value: bytes.readUInt32LE(at), end: at + 4 };
  if (type === 'double') return { value: bytes.readDoubleLE(at), end: at + 8 };
  const { value, end } = varint(bytes, at);
  if (type === 'bool') return { value: value === 1n, end };
  if (type === 'int64') return { value: String(BigInt.asIntN(64, value)), end };
  if (type in WIRE_TYPES) return { value: Number(value), end };
  const content = bytes.subarray(end, end + Number(value));
  assert.equal(content.length, Number(value), 'cut off');
  return { value: readBytes(content, type), end: end + content.length };
}

function readBytes(content: Buffer, type: FieldType): unknown {
  if (type === 'string') return utf8.decode(content);
  if (type === 'id') return content.toString('hex');
  return readProtobuf(content, type.replace('[]', '') as MessageName);
}

/** Reads a varint, which must have its shortest form. */
function varint(bytes: Buffer, at: number): { readonly value: bigint; readonly end: number } {
  let value = 0n;
  for (let index = 0; index < 10; index++) {
    const byte = bytes.readUInt8(at + index);
    value |= BigInt(byte & 127) << BigInt(7 * index);
    if (byte >= 128) continue;
    assert.ok(byte > 0 || index === 0, 'a varint that could be shorter');
    return { value, end: at + index + 1 };
  }
  return assert.fail('a varint without an end');
}
