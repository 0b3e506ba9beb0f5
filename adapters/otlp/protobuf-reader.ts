// Untrusted bytes → the wanted fields of one protobuf message, or null if they are not one.

/** Field number → its varint, or the bytes of its text or message. If a field is repeated, the last one counts. */
type WireFields = ReadonlyMap<number, bigint | Uint8Array>;

/** Wire types. No message that is read here has groups. */
const [VARINT, FIXED64, BYTES, FIXED32] = [0, 1, 2, 5] as const;

/** Returns the wanted fields of a message, or null if the bytes are not a message. */
export function readFields(bytes: Uint8Array, wanted: readonly number[]): WireFields | null {
  const fields = new Map<number, bigint | Uint8Array>();
  let at = 0;
  while (at < bytes.length) {
    const tag = readVarint(bytes, at);
    if (tag === null || tag.value < 8n || tag.value > 0xffff_ffffn) return null;
    const field = readValue(bytes, tag.end, Number(tag.value & 7n));
    if (field === null) return null;
    const number = Number(tag.value >> 3n);
    if (wanted.includes(number)) fields.set(number, field.value);
    at = field.end;
  }
  return fields;
}

interface Read<Value> {
  readonly value: Value;
  /** Offset of the byte after the value. */
  readonly end: number;
}

function readValue(bytes: Uint8Array, at: number, wireType: number): Read<bigint | Uint8Array> | null {
  if (wireType === VARINT) return readVarint(bytes, at);
  if (wireType === FIXED64) return slice(bytes, at, 8n);
  if (wireType === FIXED32) return slice(bytes, at, 4n);
  if (wireType !== BYTES) return null;
  const length = readVarint(bytes, at);
  return length && slice(bytes, length.end, length.value);
}

function slice(bytes: Uint8Array, at: number, length: bigint): Read<Uint8Array> | null {
  if (length > BigInt(bytes.length - at)) return null;
  const end = at + Number(length);
  return { value: bytes.subarray(at, end), end };
}

function readVarint(bytes: Uint8Array, at: number): Read<bigint> | null {
  let value = 0n;
  for (let index = 0; index < 10; index++) {
    const byte = bytes[at + index];
    if (byte === undefined) return null;
    value |= BigInt(byte & 127) << BigInt(7 * index);
    if (byte < 128) return { value: BigInt.asUintN(64, value), end: at + index + 1 };
  }
  return null;
}
