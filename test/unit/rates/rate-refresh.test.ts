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

/** A source whose calls wait until the test answers them. */
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

/** Sources that answer at once with `answers`, a clock, and a rate book that can be reopened on the same storage. */
class TestBench {
  nowMs = START;
  random = 0;
  readonly answers: Record<string, string | RateOutage | Error> = { a: "100", b: "100", c: "100" };
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

  /** Waits for the background refresh. */
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
        const answer = this.answers[name];
        if (answer instanceof Error) throw answer;
        if (typeof answer === "string") return ok([{ source: name, asset: "BTC", usd: answer, atMs: this.nowMs }]);
        return err(answer ?? outage("UNREACHABLE", "down"));
      },
    };
  }
}

const DOWN = outage("UNREACHABLE", "down");

async function usd(book: RateRefresh): Promise<string | undefined> {
  return (await book.table()).assets.BTC?.usd;
}

describe("requests to the sources", () => {
  it("go once to each source for 50 callers at a cold start, who all get the same table", async () => {
    const bench = new TestBench();
    const book = bench.book();
    const tables = await Promise.all(Array.from({ length: 50 }, () => book.table()));
    expect(bench.calls).toEqual({ a: 1, b: 1, c: 1, bank: 1 });
    expect(new Set(tables.map((table) => JSON.stringify(table))).size).toBe(1);
    expect(tables[0]?.assets.BTC).toEqual({ usd: "100", atMs: START, sources: ["a", "b", "c"] });
    expect(tables[0]?.fiat.EUR).toMatchObject({ perUsd: "0.5", source: "bank" });
  });

  it("are repeated after 30 seconds and not a millisecond before, for any traffic", async () => {
    const bench = new TestBench();
    const book = bench.book();
    for (let ms = 0; ms < REFRESH_MS; ms += 100) {
      bench.nowMs = START + ms;
      await book.table();
    }
    bench.nowMs = START + REFRESH_MS - 1;
    await book.table();
    expect(bench.calls.a).toBe(1);
    bench.nowMs = START + REFRESH_MS;
    await book.table();
    expect(bench.calls.a).toBe(2);
  });

  it("do not make a caller wait while the last table is valid; the next caller gets the new one", async () => {
    const slow = new HeldSource("slow");
    const bench = new TestBench([slow]);
    const book = bench.book();
    const first = book.table();
    slow.answer(err(DOWN));
    expect((await first).assets.BTC?.usd).toBe("100");
    await bench.settle();

    bench.nowMs += REFRESH_MS;
    Object.assign(bench.answers, { a: "110", b: "110", c: "110" });
    expect(await usd(book)).toBe("100");
    expect(slow.calls).toBe(2);
    // Another caller during the refresh neither waits nor starts a request, but may already get new prices.
    expect(["100", "110"]).toContain(await usd(book));
    expect(slow.calls).toBe(2);
    slow.answer(err(DOWN));
    await bench.settle();
    expect(await usd(book)).toBe("110");
  });

  it("make a caller wait when an asset has become stale since the last refresh", async () => {
    const bench = new TestBench();
    const book = bench.book();
    await book.table();
    bench.nowMs += FRESH_MS + 1;
    Object.assign(bench.answers, { a: "110", b: "110", c: "110" });
    expect(await usd(book)).toBe("110");
  });

  it("for fiat rates happen once an hour", async () => {
    const bench = new TestBench();
    const book = bench.book();
    for (let ms = 0; ms < FIAT_REFRESH_MS; ms += REFRESH_MS) {
      bench.nowMs = START + ms;
      await book.table();
      await bench.settle();
    }
    expect(bench.calls).toMatchObject({ a: 120, bank: 1 });
    bench.nowMs = START + FIAT_REFRESH_MS;
    expect((await book.table()).fiat.EUR?.perUsd).toBe("0.5");
    await bench.settle();
    expect(bench.calls.bank).toBe(2);
  });

  it("do not stop when the clock is set back", async () => {
    const bench = new TestBench();
    const book = bench.book();
    await book.table();
    bench.nowMs = START - 2 * HOUR_MS;
    expect(await usd(book)).toBe("100");
    expect(bench.calls.a).toBe(2);
  });
});

describe("failover", () => {
  it.each(["a", "b", "c"])("serves rates from the other two sources when %s fails", async (name) => {
    const bench = new TestBench();
    bench.answers[name] = DOWN;
    const { assets } = await bench.book().table();
    expect(assets.BTC?.usd).toBe("100");
    expect(assets.BTC?.sources).toHaveLength(2);
    expect(bench.reports).toEqual([`rates: ${name} failed: UNREACHABLE: down`]);
  });

  it("treats a client that throws as a failed source", async () => {
    const bench = new TestBench();
    bench.answers.a = new Error("oops");
    expect(await usd(bench.book())).toBe("100");
    expect(bench.reports).toEqual(["rates: a failed: BUG: oops"]);
  });

  it("serves the last prices when only one source is left, until they are stale; then there is no rate", async () => {
    const bench = new TestBench();
    const book = bench.book();
    await book.table();
    Object.assign(bench.answers, { b: DOWN, c: DOWN });
    for (let ms = REFRESH_MS; ms <= FRESH_MS; ms += REFRESH_MS) {
      bench.nowMs = START + ms;
      expect(await usd(book)).toBe("100");
      await bench.settle();
    }
    bench.nowMs = START + FRESH_MS + 1;
    expect(await usd(book)).toBeUndefined();
    bench.nowMs += 10 * MINUTE_MS;
    Object.assign(bench.answers, { b: "100" });
    expect(await usd(book)).toBe("100");
  });

  it("gives an empty table and throws nothing when every source fails", async () => {
    const bench = new TestBench();
    Object.assign(bench.answers, { a: DOWN, b: DOWN, c: new Error("bug") });
    const table = await bench.book().table();
    expect(table.assets).toEqual({});
    expect(quoteRate({ table, assetCode: "BTC", currency: "USD", nowMs: bench.nowMs })).toEqual({
      ok: false,
      error: "RATE_UNAVAILABLE",
    });
  });
});

describe("backoff", () => {
  /** How often `a` is called during a period with a caller in every second. */
  async function callsWhile(bench: TestBench, book: RateRefresh, forMs: number): Promise<number> {
    const before = bench.calls.a ?? 0;
    const end = bench.nowMs + forMs;
    for (; bench.nowMs < end; bench.nowMs += SECOND_MS) {
      await book.table();
      await bench.settle();
    }
    return (bench.calls.a ?? 0) - before;
  }

  it("asks a failing source less and less often, up to four minutes apart, while the others continue", async () => {
    const bench = new TestBench();
    bench.random = 0.999;
    bench.answers.a = DOWN;
    const book = bench.book();
    expect(await callsWhile(bench, book, 20 * MINUTE_MS)).toBe(8);
    expect(bench.calls.b).toBe(40);
  });

  it("asks at the usual rate again once the source has answered", async () => {
    const bench = new TestBench();
    bench.random = 0.999;
    bench.answers.a = DOWN;
    const book = bench.book();
    await callsWhile(bench, book, 10 * MINUTE_MS);
    bench.answers.a = "100";
    await callsWhile(bench, book, 4 * MINUTE_MS);
    expect(await callsWhile(bench, book, 5 * MINUTE_MS)).toBe(10);
  });

  it("takes its jitter from the given random numbers: at 0 it asks again at the next refresh", async () => {
    const bench = new TestBench();
    bench.answers.a = DOWN;
    expect(await callsWhile(bench, bench.book(), 5 * MINUTE_MS)).toBe(10);
  });

  it("honours a source's Retry-After, up to ten minutes", async () => {
    const bench = new TestBench();
    bench.answers.a = outage("RATE_LIMITED", "429", 2 * MINUTE_MS);
    const book = bench.book();
    expect(await callsWhile(bench, book, 2 * MINUTE_MS)).toBe(1);
    expect(await callsWhile(bench, book, SECOND_MS)).toBe(1);
    bench.answers.a = outage("RATE_LIMITED", "429", 24 * HOUR_MS);
    await callsWhile(bench, book, 2 * MINUTE_MS);
    expect(await callsWhile(bench, book, 10 * MINUTE_MS)).toBe(1);
  });
});

describe("stored rates", () => {
  it("are available at once in a new object, which calls no source for 30 seconds and then refreshes them", async () => {
    const bench = new TestBench();
    await bench.book().table();
    bench.nowMs += REFRESH_MS - 1;
    const again = bench.book();
    expect(await usd(again)).toBe("100");
    expect(bench.calls.a).toBe(1);
    bench.nowMs += 1;
    Object.assign(bench.answers, { a: "110", b: "110", c: "110" });
    expect(await usd(bench.book())).toBe("100");
    await bench.settle();
    expect(await usd(bench.book())).toBe("110");
    expect(bench.calls).toEqual({ a: 2, b: 2, c: 2, bank: 1 });
  });

  it("are written once for each refresh, and never by reading", async () => {
    const bench = new TestBench();
    const book = bench.book();
    await Promise.all([book.table(), book.table()]);
    await book.table();
    expect(bench.writes).toBe(1);
    bench.nowMs += REFRESH_MS;
    bench.answers.a = DOWN;
    await book.table();
    await bench.settle();
    expect(bench.writes).toBe(2);
  });

  it.each(["{}", '{"refreshedAtMs":"soon"}', "[]"])("of a different shape, %s, are ignored", async (state) => {
    const bench = new TestBench();
    bench.book();
    bench.store(state);
    expect(await usd(bench.book())).toBe("100");
  });
});
