import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { outage } from "../../../src/lib/fetch-text.ts";
import type { ObjectStorage } from "../../../src/lib/object-storage.ts";
import { err, ok, type Result } from "../../../src/lib/result.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../src/lib/time.ts";
import { FRESH_MS, type PricePoint, quoteRate } from "../../../src/rates/quote.ts";
import type { RateClient, RateOutage } from "../../../src/rates/rate-client.ts";
import { FIAT_REFRESH_MS, RateRefresh, REFRESH_MS } from "../../../src/rates/rate-refresh.ts";

const START = Date.UTC(2026, 10, 20, 12);

type Answer = Result<readonly PricePoint[], RateOutage>;

/** A source whose every call waits until it is answered. */
class HeldSource implements RateClient {
  readonly name: string;
  readonly waiting: ((answer: Answer) => void)[] = [];
  calls = 0;
  constructor(name: string) {
    this.name = name;
  }
  prices(): Promise<Answer> {
    this.calls++;
    return new Promise((resolve) => this.waiting.push(resolve));
  }
  answer(answer: Answer): void {
    for (const resolve of this.waiting.splice(0)) resolve(answer);
  }
}

/** Sources that answer at once with what `says` holds, a clock, and a book whose memory can be taken. */
class Stand {
  nowMs = START;
  random = 0;
  readonly says: Record<string, string | RateOutage | Error> = { a: "100", b: "100", c: "100" };
  readonly calls: Record<string, number> = { a: 0, b: 0, c: 0, bank: 0 };
  readonly reports: string[] = [];
  readonly background: Promise<void>[] = [];
  writes = 0;
  readonly #storage: ObjectStorage;
  readonly #clients: readonly RateClient[];

  constructor(extra: readonly RateClient[] = []) {
    const sqlite = new DatabaseSync(":memory:");
    this.#storage = {
      sql: {
        exec: (query, ...bindings) => {
          if (query.startsWith("INSERT")) this.writes++;
          const rows = sqlite.prepare(query).all(...bindings) as Record<string, string>[];
          return { toArray: () => rows };
        },
      },
      transactionSync: (closure) => closure(),
    };
    this.#clients = [...["a", "b", "c"].map((name) => this.#source(name)), ...extra];
  }

  book(): RateRefresh {
    return new RateRefresh({
      storage: this.#storage,
      priceClients: this.#clients,
      fiatClients: [
        {
          name: "bank",
          rates: async () => {
            this.calls.bank = (this.calls.bank ?? 0) + 1;
            return ok([{ source: "bank", code: "EUR", perUsd: "0.5", dateMs: START - 12 * HOUR_MS }]);
          },
        },
      ],
      assetCodes: ["BTC"],
      fiatCodes: ["EUR"],
      nowMs: () => this.nowMs,
      random: () => this.random,
      background: (work) => this.background.push(work),
      report: (line) => this.reports.push(line),
    });
  }

  /** Lets a refresh in the background end. */
  async settle(): Promise<void> {
    await Promise.all(this.background.splice(0));
  }

  store(state: string): void {
    this.#storage.sql.exec("INSERT OR REPLACE INTO book (id, state) VALUES (1, ?)", state);
  }

  #source(name: string): RateClient {
    return {
      name,
      prices: async () => {
        this.calls[name] = (this.calls[name] ?? 0) + 1;
        const says = this.says[name];
        if (says instanceof Error) throw says;
        if (typeof says === "string") return ok([{ source: name, asset: "BTC", usd: says, atMs: this.nowMs }]);
        return err(says ?? outage("UNREACHABLE", "down"));
      },
    };
  }
}

const DOWN = outage("UNREACHABLE", "down");

async function usd(book: RateRefresh): Promise<string | undefined> {
  return (await book.table()).assets.BTC?.usd;
}

describe("asking", () => {
  it("50 callers at a cold start share one call to each source, and all get the same table", async () => {
    const stand = new Stand();
    const book = stand.book();
    const tables = await Promise.all(Array.from({ length: 50 }, () => book.table()));
    expect(stand.calls).toEqual({ a: 1, b: 1, c: 1, bank: 1 });
    expect(new Set(tables.map((table) => JSON.stringify(table))).size).toBe(1);
    expect(tables[0]?.assets.BTC).toEqual({ usd: "100", atMs: START, sources: ["a", "b", "c"] });
    expect(tables[0]?.fiat.EUR).toMatchObject({ perUsd: "0.5", source: "bank" });
  });

  it("a source is asked again after 30 seconds and not a millisecond before, whatever the traffic", async () => {
    const stand = new Stand();
    const book = stand.book();
    for (let ms = 0; ms < REFRESH_MS; ms += 100) {
      stand.nowMs = START + ms;
      await book.table();
    }
    stand.nowMs = START + REFRESH_MS - 1;
    await book.table();
    expect(stand.calls.a).toBe(1);
    stand.nowMs = START + REFRESH_MS;
    await book.table();
    expect(stand.calls.a).toBe(2);
  });

  it("nobody waits while what is at hand serves: the caller gets the last table, the next one the new", async () => {
    const slow = new HeldSource("slow");
    const stand = new Stand([slow]);
    const book = stand.book();
    const first = book.table();
    slow.answer(err(DOWN));
    expect((await first).assets.BTC?.usd).toBe("100");
    await stand.settle();

    stand.nowMs += REFRESH_MS;
    Object.assign(stand.says, { a: "110", b: "110", c: "110" });
    expect(await usd(book)).toBe("100");
    expect(slow.calls).toBe(2);
    // Another caller while it still runs neither waits nor asks; what has come in already may show.
    expect(["100", "110"]).toContain(await usd(book));
    expect(slow.calls).toBe(2);
    slow.answer(err(DOWN));
    await stand.settle();
    expect(await usd(book)).toBe("110");
  });

  it("a caller waits when an asset has gone stale since the last refresh", async () => {
    const stand = new Stand();
    const book = stand.book();
    await book.table();
    stand.nowMs += FRESH_MS + 1;
    Object.assign(stand.says, { a: "110", b: "110", c: "110" });
    expect(await usd(book)).toBe("110");
  });

  it("fiat rates are asked once an hour", async () => {
    const stand = new Stand();
    const book = stand.book();
    for (let ms = 0; ms < FIAT_REFRESH_MS; ms += REFRESH_MS) {
      stand.nowMs = START + ms;
      await book.table();
      await stand.settle();
    }
    expect(stand.calls).toMatchObject({ a: 120, bank: 1 });
    stand.nowMs = START + FIAT_REFRESH_MS;
    expect((await book.table()).fiat.EUR?.perUsd).toBe("0.5");
    await stand.settle();
    expect(stand.calls.bank).toBe(2);
  });

  it("a clock that is set back does not stop the refreshes", async () => {
    const stand = new Stand();
    const book = stand.book();
    await book.table();
    stand.nowMs = START - 2 * HOUR_MS;
    expect(await usd(book)).toBe("100");
    expect(stand.calls.a).toBe(2);
  });
});

describe("failover", () => {
  it.each(["a", "b", "c"])("without %s the other two serve", async (name) => {
    const stand = new Stand();
    stand.says[name] = DOWN;
    const { assets } = await stand.book().table();
    expect(assets.BTC?.usd).toBe("100");
    expect(assets.BTC?.sources).toHaveLength(2);
    expect(stand.reports).toEqual([`rates: ${name} failed: UNREACHABLE: down`]);
  });

  it("a client with a bug is a source that failed", async () => {
    const stand = new Stand();
    stand.says.a = new Error("oops");
    expect(await usd(stand.book())).toBe("100");
    expect(stand.reports).toEqual(["rates: a failed: BUG: oops"]);
  });

  it("with one source left its last company serves until it is stale, and then there is no rate", async () => {
    const stand = new Stand();
    const book = stand.book();
    await book.table();
    Object.assign(stand.says, { b: DOWN, c: DOWN });
    for (let ms = REFRESH_MS; ms <= FRESH_MS; ms += REFRESH_MS) {
      stand.nowMs = START + ms;
      expect(await usd(book)).toBe("100");
      await stand.settle();
    }
    stand.nowMs = START + FRESH_MS + 1;
    expect(await usd(book)).toBeUndefined();
    stand.nowMs += 10 * MINUTE_MS;
    Object.assign(stand.says, { b: "100" });
    expect(await usd(book)).toBe("100");
  });

  it("when every source fails the table is empty and never an exception", async () => {
    const stand = new Stand();
    Object.assign(stand.says, { a: DOWN, b: DOWN, c: new Error("bug") });
    const table = await stand.book().table();
    expect(table.assets).toEqual({});
    expect(quoteRate({ table, assetCode: "BTC", currency: "USD", nowMs: stand.nowMs })).toEqual({
      ok: false,
      error: "RATE_UNAVAILABLE",
    });
  });
});

describe("backoff", () => {
  /** Calls to `a` over a time of traffic every second. */
  async function callsWhile(stand: Stand, book: RateRefresh, forMs: number): Promise<number> {
    const before = stand.calls.a ?? 0;
    const end = stand.nowMs + forMs;
    for (; stand.nowMs < end; stand.nowMs += SECOND_MS) {
      await book.table();
      await stand.settle();
    }
    return (stand.calls.a ?? 0) - before;
  }

  it("a source that keeps failing is asked less and less, up to four minutes apart, while the others go on", async () => {
    const stand = new Stand();
    stand.random = 0.999;
    stand.says.a = DOWN;
    const book = stand.book();
    expect(await callsWhile(stand, book, 20 * MINUTE_MS)).toBe(8);
    expect(stand.calls.b).toBe(40);
  });

  it("it is asked at the usual pace again as soon as it has answered", async () => {
    const stand = new Stand();
    stand.random = 0.999;
    stand.says.a = DOWN;
    const book = stand.book();
    await callsWhile(stand, book, 10 * MINUTE_MS);
    stand.says.a = "100";
    await callsWhile(stand, book, 4 * MINUTE_MS);
    expect(await callsWhile(stand, book, 5 * MINUTE_MS)).toBe(10);
  });

  it("the jitter is the caller's randomness: without any it is asked at the next refresh", async () => {
    const stand = new Stand();
    stand.says.a = DOWN;
    expect(await callsWhile(stand, stand.book(), 5 * MINUTE_MS)).toBe(10);
  });

  it("a source that asks for peace gets it, but no more than ten minutes", async () => {
    const stand = new Stand();
    stand.says.a = outage("RATE_LIMITED", "429", 2 * MINUTE_MS);
    const book = stand.book();
    expect(await callsWhile(stand, book, 2 * MINUTE_MS)).toBe(1);
    expect(await callsWhile(stand, book, SECOND_MS)).toBe(1);
    stand.says.a = outage("RATE_LIMITED", "429", 24 * HOUR_MS);
    await callsWhile(stand, book, 2 * MINUTE_MS);
    expect(await callsWhile(stand, book, 10 * MINUTE_MS)).toBe(1);
  });
});

describe("eviction", () => {
  it("a book that lost its memory answers at once, asks nobody within the 30 seconds, and goes on after them", async () => {
    const stand = new Stand();
    await stand.book().table();
    stand.nowMs += REFRESH_MS - 1;
    const again = stand.book();
    expect(await usd(again)).toBe("100");
    expect(stand.calls.a).toBe(1);
    stand.nowMs += 1;
    Object.assign(stand.says, { a: "110", b: "110", c: "110" });
    expect(await usd(stand.book())).toBe("100");
    await stand.settle();
    expect(await usd(stand.book())).toBe("110");
    expect(stand.calls).toEqual({ a: 2, b: 2, c: 2, bank: 1 });
  });

  it("a refresh writes once, and reading writes nothing", async () => {
    const stand = new Stand();
    const book = stand.book();
    await Promise.all([book.table(), book.table()]);
    await book.table();
    expect(stand.writes).toBe(1);
    stand.nowMs += REFRESH_MS;
    stand.says.a = DOWN;
    await book.table();
    await stand.settle();
    expect(stand.writes).toBe(2);
  });

  it.each(["{}", '{"refreshedAtMs":"soon"}', "[]"])(
    "a state of another shape, %s, is as good as none",
    async (state) => {
      const stand = new Stand();
      stand.book();
      stand.store(state);
      expect(await usd(stand.book())).toBe("100");
    },
  );
});
