// Bytes in the AMQP 1.0 type system → values with their wire type, read by no client's library.

/**
 * A value as it was on the wire. Whole numbers beyond 2^53 are bigint; maps keep their order; char is its text, uuid
 * its usual spelling.
 */
export type AmqpValue =
  | { readonly type: 'null'; readonly value: null }
  | { readonly type: 'boolean'; readonly value: boolean }
  | {
      readonly type: 'ubyte' | 'ushort' | 'uint' | 'ulong' | 'byte' | 'short' | 'int' | 'long';
      readonly value: number | bigint;
    }
  | { readonly type: 'float' | 'double'; readonly value: number }
  | { readonly type: 'timestamp'; readonly value: Date }
  | { readonly type: 'string' | 'symbol' | 'char' | 'uuid'; readonly value: string }
  | { readonly type: 'binary' | 'decimal32' | 'decimal64' | 'decimal128'; readonly value: Buffer }
  | { readonly type: 'list' | 'array'; readonly value: readonly AmqpValue[] }
  | { readonly type: 'map'; readonly value: readonly (readonly [AmqpValue, AmqpValue])[] }
  | { readonly type: 'described'; readonly descriptor: AmqpValue; readonly value: AmqpValue };

type Reader = (bytes: Buffer) => AmqpValue;

/** Constructors of a fixed width (AMQP 1.0 part 1, section 1.6): code → width, reader. */
const FIXED: Readonly<Record<number, readonly [width: number, read: Reader]>> = {
  64: [0, () => ({ type: 'null', value: null })],
  65: [0, () => ({ type: 'boolean', value: true })],
  66: [0, () => ({ type: 'boolean', value: false })],
  67: [0, () => ({ type: 'uint', value: 0 })],
  68: [0, () => ({ type: 'ulong', value: 0 })],
  69: [0, () => ({ type: 'list', value: [] })],
  80: [1, (bytes) => ({ type: 'ubyte', value: bytes.readUInt8() })],
  81: [1, (bytes) => ({ type: 'byte', value: bytes.readInt8() })],
  82: [1, (bytes) => ({ type: 'uint', value: bytes.readUInt8() })],
  83: [1, (bytes) => ({ type: 'ulong', value: bytes.readUInt8() })],
  84: [1, (bytes) => ({ type: 'int', value: bytes.readInt8() })],
  85: [1, (bytes) => ({ type: 'long', value: bytes.readInt8() })],
  86: [1, (bytes) => ({ type: 'boolean', value: bytes.readUInt8() === 1 })],
  96: [2, (bytes) => ({ type: 'ushort', value: bytes.readUInt16BE() })],
  97: [2, (bytes) => ({ type: 'short', value: bytes.readInt16BE() })],
  112: [4, (bytes) => ({ type: 'uint', value: bytes.readUInt32BE() })],
  113: [4, (bytes) => ({ type: 'int', value: bytes.readInt32BE() })],
  114: [4, (bytes) => ({ type: 'float', value: bytes.readFloatBE() })],
  115: [4, (bytes) => ({ type: 'char', value: String.fromCodePoint(bytes.readUInt32BE()) })],
  116: [4, (bytes) => ({ type: 'decimal32', value: Buffer.from(bytes) })],
  128: [8, (bytes) => ({ type: 'ulong', value: small(bytes.readBigUInt64BE()) })],
  129: [8, (bytes) => ({ type: 'long', value: small(bytes.readBigInt64BE()) })],
  130: [8, (bytes) => ({ type: 'double', value: bytes.readDoubleBE() })],
  131: [8, (bytes) => ({ type: 'timestamp', value: new Date(Number(bytes.readBigInt64BE())) })],
  132: [8, (bytes) => ({ type: 'decimal64', value: Buffer.from(bytes) })],
  148: [16, (bytes) => ({ type: 'decimal128', value: Buffer.from(bytes) })],
  152: [16, (bytes) => ({ type: 'uuid', value: dashed(bytes) })],
};

const VARIABLE: Readonly<Record<number, Reader>> = {
  0: (bytes) => ({ type: 'binary', value: Buffer.from(bytes) }),
  1: (bytes) => ({ type: 'string', value: bytes.toString('utf8') }),
  3: (bytes) => ({ type: 'symbol', value: bytes.toString('latin1') }),
};

/**
 * Reads one value after another.
 * @throws Error on a constructor that AMQP 1.0 does not have, RangeError at the end of the bytes
 */
export class AmqpReader {
  position = 0;
  readonly #bytes: Buffer;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get done(): boolean {
    return this.position >= this.#bytes.length;
  }

  read(): AmqpValue {
    const code = this.#take(1).readUInt8();
    if (code !== 0) return this.#value(code);
    const descriptor = this.read();
    return { type: 'described', descriptor, value: this.read() };
  }

  #value(code: number): AmqpValue {
    const fixed = FIXED[code];
    if (fixed) return fixed[1](this.#take(fixed[0]));
    const width = code & 0x10 ? 4 : 1;
    const [category, kind] = [code >> 5, code & 0x0f];
    const variable = VARIABLE[kind];
    if (category === 5 && variable) return variable(this.#take(this.#size(width)));
    if (category === 6 && kind < 2) return this.#compound(width, kind === 1);
    if (category === 7 && kind === 0) return this.#array(width);
    throw new Error(`no AMQP constructor: 0x${code.toString(16)}`);
  }

  #compound(width: 1 | 4, isMap: boolean): AmqpValue {
    this.#size(width);
    const items = Array.from({ length: this.#size(width) }, () => this.read());
    if (!isMap) return { type: 'list', value: items };
    const pairs = items.flatMap((key, index) => {
      const value = items[index + 1];
      return index % 2 === 0 && value ? [[key, value] as const] : [];
    });
    return { type: 'map', value: pairs };
  }

  #array(width: 1 | 4): AmqpValue {
    this.#size(width);
    const count = this.#size(width);
    const code = this.#take(1).readUInt8();
    if (code === 0) throw new Error('arrays of described values are not read here');
    return { type: 'array', value: Array.from({ length: count }, () => this.#value(code)) };
  }

  #size(width: 1 | 4): number {
    const bytes = this.#take(width);
    return width === 1 ? bytes.readUInt8() : bytes.readUInt32BE();
  }

  #take(length: number): Buffer {
    const end = this.position + length;
    if (end > this.#bytes.length) throw new RangeError(`an AMQP value ends beyond its ${this.#bytes.length} bytes`);
    const taken = this.#bytes.subarray(this.position, end);
    this.position = end;
    return taken;
  }
}

function small(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

function dashed(bytes: Buffer): string {
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
