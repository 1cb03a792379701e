// Keeps the rates up to date. It calls each source at most every 30 seconds, however many callers there are; callers do not wait while the stored
// rates are usable, and any source may fail. It stores the last points of each source, and each read makes the table from them, so that an old point
// is never used.
import * as z from "zod";
import { fullJitterMs } from "../lib/backoff.ts";
import { lazily } from "../lib/lazily.ts";
import type { ObjectStorage } from "../lib/object-storage.ts";
import { err, type Result } from "../lib/result.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../lib/time.ts";
import { combine, type FiatPoint, type PricePoint, type RateSource, type RateTable } from "./quote.ts";
import type { FiatClient, RateClient, RateOutage } from "./rate-client.ts";

/** The time between the starts of two refreshes. */
export const REFRESH_MS = 30 * SECOND_MS;
/** The time between two calls of a fiat source, which publishes once a day. */
export const FIAT_REFRESH_MS = HOUR_MS;
/** The longest pause of our own after a source failed; RETRY_AFTER_CAP_MS limits a pause that the source asked for. */
const BACKOFF_CAP_MS = 4 * MINUTE_MS;
const RETRY_AFTER_CAP_MS = 10 * MINUTE_MS;

interface RateRefreshParts {
  readonly storage: ObjectStorage;
  readonly priceClients: readonly RateClient[];
  readonly fiatClients: readonly FiatClient[];
  readonly assetCodes: readonly string[];
  readonly fiatCodes: readonly string[];
  readonly nowMs: () => number;
  /** In [0, 1). */
  readonly random: () => number;
  /** Continues work for which no caller waits. */
  readonly background: (work: Promise<void>) => void;
  /** Logs one line about a source that failed. */
  readonly report: (line: string) => void;
}

const pricePoint = lazily(() => z.object({ source: z.string(), asset: z.string(), usd: z.string(), atMs: z.number() }));
const fiatPoint = lazily(() =>
  z.object({ source: z.string(), code: z.string(), perUsd: z.string(), dateMs: z.number() }),
);
const keptState = lazily(() =>
  z.object({
    /** When the last refresh started; null before the first. */
    refreshedAtMs: z.number().nullable(),
    /** The assets that had a rate after the last refresh. */
    known: z.array(z.string()).readonly(),
    prices: z.array(pricePoint()).readonly(),
    fiat: z.array(fiatPoint()).readonly(),
    /** By source: it is not called before `untilMs`, after `failures` consecutive failures. */
    pauses: z.record(z.string(), z.object({ failures: z.number(), untilMs: z.number() })),
  }),
);
type KeptState = z.infer<ReturnType<typeof keptState>>;

const NOTHING: KeptState = { refreshedAtMs: null, known: [], prices: [], fiat: [], pauses: {} };

export class RateRefresh implements RateSource {
  readonly #parts: RateRefreshParts;
  #kept: KeptState;
  #running: Promise<void> | undefined;

  constructor(parts: RateRefreshParts) {
    this.#parts = parts;
    parts.storage.sql.exec(
      "CREATE TABLE IF NOT EXISTS book (id INTEGER PRIMARY KEY CHECK (id = 1), state TEXT NOT NULL)",
    );
    this.#kept = this.#load();
  }

  /**
   * The current rates. Waits for the sources only if the stored rates are not usable: there are none yet, or an asset became stale since the last
   * refresh. Never throws; if all sources fail, the table holds only the rates that are still fresh, possibly none.
   */
  async table(): Promise<RateTable> {
    const nowMs = this.#parts.nowMs();
    const table = combine(this.#kept, nowMs);
    const running = this.#running ?? (this.#isDue(nowMs) ? this.#start(nowMs) : undefined);
    if (running === undefined || this.#serves(table)) return table;
    await running;
    return combine(this.#kept, this.#parts.nowMs());
  }

  #isDue(nowMs: number): boolean {
    const { refreshedAtMs } = this.#kept;
    // If the clock was set back, `nowMs < refreshedAtMs` keeps the refreshes going.
    return refreshedAtMs === null || nowMs < refreshedAtMs || nowMs - refreshedAtMs >= REFRESH_MS;
  }

  /** Whether `table` still has every rate that the last refresh found. */
  #serves(table: RateTable): boolean {
    const { known } = this.#kept;
    return known.length > 0 && known.every((code) => Object.hasOwn(table.assets, code));
  }

  /** Single flight: there is no `await` between the check for a running refresh and storing the new refresh. */
  #start(nowMs: number): Promise<void> {
    const work = this.#refresh(nowMs).finally(() => {
      this.#running = undefined;
    });
    this.#running = work;
    this.#parts.background(work);
    return work;
  }

  async #refresh(nowMs: number): Promise<void> {
    const { priceClients, fiatClients, assetCodes, fiatCodes } = this.#parts;
    this.#kept = { ...this.#kept, refreshedAtMs: nowMs };
    await Promise.all([
      ...priceClients
        .filter((client) => this.#mayAsk(client.name, nowMs))
        .map(async (client) => {
          const points = await this.#asked(client.name, () => client.prices([...assetCodes, ...fiatCodes]));
          if (points !== undefined)
            this.#kept = { ...this.#kept, prices: replaced(this.#kept.prices, client.name, points) };
        }),
      ...fiatClients
        .filter((client) => this.#mayAsk(client.name, nowMs))
        .map(async (client) => {
          const points = await this.#asked(client.name, () => client.rates(fiatCodes));
          if (points === undefined) return;
          this.#kept = { ...this.#kept, fiat: replaced(this.#kept.fiat, client.name, points) };
          this.#pause(client.name, { failures: 0, untilMs: nowMs + FIAT_REFRESH_MS });
        }),
    ]);
    this.#kept = { ...this.#kept, known: Object.keys(combine(this.#kept, this.#parts.nowMs()).assets) };
    this.#save();
  }

  #mayAsk(source: string, nowMs: number): boolean {
    const pause = this.#kept.pauses[source];
    return pause === undefined || nowMs >= pause.untilMs;
  }

  /** Calls a source. Undefined if it failed: its last points stay until they are stale, and it is not called for a while. */
  async #asked<T>(source: string, ask: () => Promise<Result<T, RateOutage>>): Promise<T | undefined> {
    const { nowMs, random, report } = this.#parts;
    const answer = await ask().catch((error: Error) =>
      err({ kind: "BUG", message: error.message, retryAfterMs: null }),
    );
    if (answer.ok) {
      this.#pause(source, { failures: 0, untilMs: 0 });
      return answer.value;
    }
    const failures = this.#kept.pauses[source]?.failures ?? 0;
    const jitterMs = fullJitterMs({ attempt: failures, baseMs: REFRESH_MS, capMs: BACKOFF_CAP_MS, random: random() });
    const askedMs = Math.min(answer.error.retryAfterMs ?? 0, RETRY_AFTER_CAP_MS);
    this.#pause(source, { failures: failures + 1, untilMs: nowMs() + Math.max(jitterMs, askedMs) });
    report(`rates: ${source} failed: ${answer.error.kind}: ${answer.error.message}`);
    return undefined;
  }

  #pause(source: string, pause: KeptState["pauses"][string]): void {
    this.#kept = { ...this.#kept, pauses: { ...this.#kept.pauses, [source]: pause } };
  }

  /** Stores the state, one row and one write per refresh, so that an evicted object can respond at once when it starts again. */
  #save(): void {
    const { storage, report } = this.#parts;
    try {
      storage.sql.exec("INSERT OR REPLACE INTO book (id, state) VALUES (1, ?)", JSON.stringify(this.#kept));
    } catch (error) {
      report(`rates: could not be stored: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  /** Loads the state; ignores state that another version stored in another format. */
  #load(): KeptState {
    const [row] = this.#parts.storage.sql.exec("SELECT state FROM book WHERE id = 1").toArray();
    if (row === undefined) return NOTHING;
    const parsed = keptState().safeParse(JSON.parse(String(row.state)));
    return parsed.success ? parsed.data : NOTHING;
  }
}

function replaced<T extends PricePoint | FiatPoint>(
  kept: readonly T[],
  source: string,
  points: readonly T[],
): readonly T[] {
  return [...kept.filter((point) => point.source !== source), ...points];
}
