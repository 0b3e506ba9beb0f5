// Chunks of bytes → all of them together, or null if they are too long.

/** Reads no further once there are more than `longest` bytes: the source may be endless. */
export async function boundedBytes(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  longest: number,
): Promise<Buffer | null> {
  const read: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    read.push(chunk);
    length += chunk.length;
    if (length > longest) return null;
  }
  return Buffer.concat(read);
}
