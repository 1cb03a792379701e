// Reads a body that may be long, endless, slow or broken off, and keeps no more of it in memory than the reader asked for.

export interface ReadLimits {
  /** Reading stops with the chunk that goes beyond this many bytes; what comes after it is never asked for. */
  readonly limitBytes: number;
  /** How many bytes of a body that is longer, or that broke off, are returned: 0 where absent. */
  readonly keptBytes?: number;
  /** When it aborts, the read rejects with its reason. Without it a body that hangs is broken by the signal of its request. */
  readonly signal?: AbortSignal;
  /** Returns what came before the body broke off; without it the read rejects with the body's own error. */
  readonly keepsBroken?: boolean;
}

export interface ReadBytes {
  readonly bytes: Uint8Array;
  /** Otherwise the body was longer than the limit, or broke off. */
  readonly isWhole: boolean;
}

export async function readBytes(body: ReadableStream<Uint8Array> | null, limits: ReadLimits): Promise<ReadBytes> {
  const { limitBytes, keptBytes = 0, signal, keepsBroken = false } = limits;
  if (body === null) return { bytes: new Uint8Array(), isWhole: true };
  const reader = body.getReader();
  // Not awaited, because it may take as long as the sender likes. A body that broke off rejects it, as it has rejected `read`.
  const stop = () => void reader.cancel().catch(() => undefined);
  signal?.addEventListener("abort", stop, { once: true });
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    while (length <= limitBytes) {
      const { done, value } = await reader.read();
      signal?.throwIfAborted();
      if (done) return { bytes: joined(chunks, length), isWhole: true };
      length += value.length;
      chunks.push(value);
    }
    stop();
  } catch (error) {
    if (!keepsBroken) throw error;
  }
  return { bytes: joined(chunks, Math.min(length, keptBytes)), isWhole: false };
}

/** The first `length` bytes of the chunks. */
function joined(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const [only] = chunks;
  if (only?.length === length) return only;
  const whole = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    const room = length - offset;
    if (room === 0) break;
    whole.set(chunk.subarray(0, room), offset);
    offset += Math.min(chunk.length, room);
  }
  return whole;
}
