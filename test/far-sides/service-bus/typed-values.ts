// Plain values → values whose AMQP type is chosen here, as rhea writes them.
import rhea from 'rhea';
import type { AmqpValue } from './amqp-value.ts';

const types = rhea.types as unknown as {
  wrap_long(value: number | Buffer): unknown;
  wrap_int(value: number): unknown;
  wrap_timestamp(ms: number): unknown;
  wrap_symbol(text: string): unknown;
  wrap_uuid(bytes: Buffer): unknown;
  wrap_array(items: readonly unknown[], code: number): unknown;
};

const LONG_CODE = 0x81;
const TIMESTAMP_CODE = 0x83;
/** .NET's ticks (100 ns) from the year 1 to 1970. */
const TICKS_TO_1970 = 621_355_968_000_000_000n;

export const typed = {
  long: (value: number) => types.wrap_long(value),
  int: (value: number) => types.wrap_int(value),
  timestamp: (ms: number) => types.wrap_timestamp(ms),
  symbol: (text: string) => types.wrap_symbol(text),
  uuid: (bytes: Buffer) => types.wrap_uuid(bytes),
  longs: (values: readonly number[]) => types.wrap_array(values, LONG_CODE),
  timestamps: (values: readonly number[]) => types.wrap_array(values, TIMESTAMP_CODE),
  /** A point in time as Service Bus puts it into a link's properties. */
  ticks(ms: number): unknown {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64BE(BigInt(ms) * 10_000n + TICKS_TO_1970);
    return types.wrap_long(bytes);
  },
  /**
   * What was read, ready to be written again with the type it had, where it is one that senders put into annotations.
   */
  from(read: AmqpValue): unknown {
    if (read.type === 'timestamp') return types.wrap_timestamp(read.value.getTime());
    if (read.type === 'symbol') return types.wrap_symbol(read.value);
    if (read.type === 'long') return types.wrap_long(Number(read.value));
    return read.value;
  },
};
