// The memory of a deployment's isolates, from the runtime's inspector. Reading it does not stop them.
import * as z from "zod";
import { jsonIn } from "./json.ts";

/** The result of `Runtime.getHeapUsage`, in bytes. */
const HEAP_USAGE = z.object({
  result: z.object({ usedSize: z.number(), backingStorageSize: z.number().default(0) }),
});

interface HeapSample {
  readonly atMs: number;
  readonly bytes: number;
}

/** Samples of one isolate, oldest first. */
type HeapSamples = readonly HeapSample[];

/** Bytes of an isolate's heap and external buffers; garbage counts until it is collected. `socket`: the isolate's inspector. */
export async function heapBytes(socket: URL): Promise<number> {
  const connection = new WebSocket(socket.href);
  try {
    const answered = new Promise<string>((answer, fail) => {
      connection.addEventListener("open", () =>
        connection.send(JSON.stringify({ id: 1, method: "Runtime.getHeapUsage" })),
      );
      connection.addEventListener("message", ({ data }) => answer(String(data)));
      for (const end of ["error", "close"] as const)
        connection.addEventListener(end, () => fail(new Error(`no inspector answers at ${socket}`)));
    });
    const { result } = jsonIn(HEAP_USAGE, await answered);
    return result.usedSize + result.backingStorageSize;
  } finally {
    connection.close();
  }
}

interface HeapFigures {
  readonly firstBytes: number;
  readonly lastBytes: number;
  readonly mostBytes: number;
}

export function heapFigures(samples: HeapSamples): HeapFigures | undefined {
  const [first] = samples;
  const last = samples.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const mostBytes = Math.max(...samples.map(({ bytes }) => bytes));
  return { firstBytes: first.bytes, lastBytes: last.bytes, mostBytes };
}

/** The platform ends an isolate that holds more (developers.cloudflare.com/workers/platform/limits). */
export const MOST_HEAP_BYTES = 128 * 2 ** 20;

/** In a shorter time, the first growth of a heap looks like a leak. */
const LONG_MS = 10 * 60_000;
const PARTS = 6;
/** Growth below this is noise: compiled code, and tables that grow by doubling. */
const LEAK_BYTES = 4 * 2 ** 20;

/**
 * Whether the isolate leaks. A heap grows until it is collected, so only the lowest sample of each sixth of the time counts. The first sixth is the
 * warm-up. Each must be above the one before it, and the total growth must be at least 4 MiB.
 */
export function growsSteadily(samples: HeapSamples): boolean {
  const startMs = samples[0]?.atMs ?? 0;
  const spanMs = (samples.at(-1)?.atMs ?? 0) - startMs;
  if (spanMs < LONG_MS) return false;
  const lows = Array.from({ length: PARTS }, (_, part) =>
    Math.min(
      ...samples
        .filter(({ atMs }) => Math.min(PARTS - 1, Math.floor(((atMs - startMs) / spanMs) * PARTS)) === part)
        .map(({ bytes }) => bytes),
    ),
  ).slice(1);
  const rises = lows.every((low, part) => Number.isFinite(low) && (part === 0 || low > (lows[part - 1] ?? low)));
  return rises && (lows.at(-1) ?? 0) - (lows[0] ?? 0) >= LEAK_BYTES;
}

/** Samples each isolate until stopped. If an isolate restarts, perhaps with other code, a new series starts. */
export class HeapWatch {
  readonly #rows = new Map<string, { readonly name: string; readonly samples: HeapSample[] }>();
  readonly #bytes: () => Promise<ReadonlyMap<string, number>>;
  readonly #timer: NodeJS.Timeout;
  #generation = 0;

  /** `bytes` returns each isolate's current bytes, by name. */
  constructor(bytes: () => Promise<ReadonlyMap<string, number>>, everyMs: number) {
    this.#bytes = bytes;
    this.#timer = setInterval(() => void this.sample().catch(() => undefined), everyMs);
  }

  async sample(): Promise<void> {
    const generation = this.#generation;
    const bytes = await this.#bytes();
    if (generation !== this.#generation) return;
    for (const [name, each] of bytes) {
      const key = `${name} ${generation}`;
      const row = this.#rows.get(key) ?? { name, samples: [] };
      this.#rows.set(key, row);
      row.samples.push({ atMs: Date.now(), bytes: each });
    }
  }

  /** Must be called after all isolates have restarted. */
  begun(): void {
    this.#generation += 1;
  }

  /** One series of samples for each start of each isolate. */
  get rows(): readonly { readonly name: string; readonly samples: HeapSamples }[] {
    return [...this.#rows.values()];
  }

  /** The largest size of any isolate since `atMs`. */
  mostSince(atMs: number): number {
    const since = this.rows.flatMap(({ samples }) => samples.filter((sample) => sample.atMs >= atMs));
    return Math.max(0, ...since.map(({ bytes }) => bytes));
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
