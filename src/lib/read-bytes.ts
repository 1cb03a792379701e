// Reads a body that may be long, endless or slow, or may break off, with a limit on how much of it is kept in memory.

interface ReadLimits {
  /** Reading stops after the chunk that exceeds this many bytes; the rest is never read. */
  readonly limitBytes: number;
  /** How many bytes of a longer or broken body to return; 0 by default. */
  readonly keptBytes?: number;
  /** When it aborts, the read rejects with its reason (but see `keepsBroken`). Without it, only the request's own signal ends a body that hangs. */
  readonly signal?: AbortSignal;
  /** Whether to return the bytes before the body broke off or `signal` aborted, up to `keptBytes`; otherwise the read rejects. */
  readonly keepsBroken?: boolean;
}

interface ReadBytes {
  readonly bytes: Uint8Array;
  /** False if the body was longer than the limit, broke off, or was aborted. */
  readonly isWhole: boolean;
}

export async function readBytes(body: ReadableStream<Uint8Array> | null, limits: ReadLimits): Promise<ReadBytes> {
  const { limitBytes, keptBytes = 0, signal, keepsBroken = false } = limits;
  if (body === null) return { bytes: new Uint8Array(), isWhole: true };
  const reader = body.getReader();
  // Not awaited, because the sender decides how long it takes. For a body that broke off it rejects with the same error as `read`.
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
