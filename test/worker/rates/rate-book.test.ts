import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { CRYPTO_CODES } from "../../../src/chains/registry/networks.ts";
import { BANK_CODES, FIAT_CODES } from "../../../src/lib/fiat-codes.ts";
import { sleep } from "../../../src/lib/sleep.ts";
import { quoteRate, type RateTable } from "../../../src/rates/quote.ts";
import { RateBook } from "../../../src/rates/rate-book.ts";
import { RateCache } from "../../../src/rates/rate-cache.ts";
import { RATE_BOOK_NAME, rateSourceOf } from "../../../src/rates/rate-source.ts";
import { COINBASE, coingecko, currencyApi, frankfurter, KRAKEN } from "../../support/rate-payloads.ts";

const START = Date.UTC(2026, 10, 20, 12);
const HOSTS = [
  "api.coinbase.com",
  "api.kraken.com",
  "api.coingecko.com",
  "api.frankfurter.dev",
  "cdn.jsdelivr.net",
  "latest.currency-api.pages.dev",
] as const;
type Host = (typeof HOSTS)[number];

/** How often each other host was called, and which hosts are down. Nothing leaves this machine: any unknown host throws. */
const outside = { calls: new Map<string, number>(), down: new Set<string>() };

function answerOf(host: string): string {
  switch (host) {
    case "api.coinbase.com":
      return COINBASE;
    case "api.kraken.com":
      return KRAKEN;
    case "api.coingecko.com":
      return coingecko(Math.floor(Date.now() / 1_000) - 10);
    case "api.frankfurter.dev":
      return frankfurter("2026-11-19");
    case "cdn.jsdelivr.net":
    case "latest.currency-api.pages.dev":
      return currencyApi("2026-11-19");
    default:
      throw new Error(`unexpected host ${host}`);
  }
}

async function stubbedFetch(url: string): Promise<Response> {
  const { host } = new URL(url);
  outside.calls.set(host, (outside.calls.get(host) ?? 0) + 1);
  return outside.down.has(host)
    ? new Response("<html>Bad gateway</html>", { status: 502 })
    : new Response(answerOf(host));
}

const callsTo = (host: Host) => outside.calls.get(host) ?? 0;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: START });
  vi.stubGlobal("fetch", stubbedFetch);
  vi.spyOn(console, "warn").mockReturnValue();
  outside.calls.clear();
  outside.down.clear();
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** An object for this test only. Its environment uses market sources, while the suite's environment has fixed rates. */
function bookNamed(name: string) {
  const stub = env.RATE_BOOK.getByName(name);
  return {
    stub,
    /** Runs `work` in the object, with a newly created book over the object's storage. */
    awake: <T>(work: (book: RateBook) => Promise<T>): Promise<T> =>
      runInDurableObject(stub, (_, state) =>
        work(new RateBook(state, { ...env, RATE_SOURCE: "coinbase,kraken,coingecko,frankfurter,currency-api" })),
      ),
  };
}

const BTC = { assetCode: "BTC", currency: "EUR" };

describe("the rate book on workerd", () => {
  it("makes one request to each source for 100 callers at once, and rates every asset and currency", async () => {
    const { awake } = bookNamed("single flight");
    const tables = await awake((book) => Promise.all(Array.from({ length: 100 }, () => book.table())));
    expect(HOSTS.map(callsTo)).toEqual([1, 1, 1, 1, 1, 0]);
    expect(new Set(tables.map((table) => JSON.stringify(table))).size).toBe(1);
    const [table] = tables;
    expect(Object.keys(table?.assets ?? {}).sort()).toEqual([...CRYPTO_CODES].sort());
    expect(["USD", ...Object.keys(table?.fiat ?? {})].sort()).toEqual([...FIAT_CODES].sort());
  });

  it("calls the price sources at most every 30 seconds, and the bank once", async () => {
    const { awake } = bookNamed("pace");
    await awake(async (book) => {
      await book.table();
      vi.setSystemTime(START + 29_999);
      await book.table();
      expect(callsTo("api.kraken.com")).toBe(1);
      vi.setSystemTime(START + 30_000);
      await Promise.all([book.table(), book.table(), book.table()]);
      await expect.poll(() => HOSTS.map(callsTo)).toEqual([2, 2, 2, 1, 1, 0]);
    });
  });

  it.each(HOSTS.slice(0, 3))("rates every coin without %s", async (host) => {
    outside.down.add(host);
    const table = await bookNamed(`without ${host}`).awake((book) => book.table());
    expect(Object.keys(table.assets).sort()).toEqual([...CRYPTO_CODES].sort());
    for (const rate of Object.values(table.assets)) expect(rate.sources).toHaveLength(2);
  });

  it("rates dollars but not euros without the bank and one more source; without any source it has no rates and does not throw", async () => {
    for (const host of HOSTS.slice(3)) outside.down.add(host);
    const dollarsOnly = await bookNamed("without the bank").awake((book) => book.table());
    expect(quoteRate({ table: dollarsOnly, ...BTC, currency: "USD", nowMs: START })).toMatchObject({ ok: true });
    expect(quoteRate({ table: dollarsOnly, ...BTC, nowMs: START })).toMatchObject({ ok: false });
    for (const host of HOSTS) outside.down.add(host);
    expect(await bookNamed("without any source").awake((book) => book.table())).toEqual({ assets: {}, fiat: {} });
  });

  it("rates the euro without the bank if two other sources agree; a currency without a bank rate always needs two sources", async () => {
    outside.down.add("api.frankfurter.dev");
    const { fiat } = await bookNamed("two for the euro").awake((book) => book.table());
    expect(fiat.EUR).toMatchObject({ source: "coinbase+currency-api" });
    outside.down.delete("api.frankfurter.dev");
    outside.down.add("api.coinbase.com");
    const table = await bookNamed("one for the dinar").awake((book) => book.table());
    expect([table.fiat.EUR?.source, table.fiat.KWD, table.unpriced?.KWD]).toEqual([
      "frankfurter",
      undefined,
      "ONE_SOURCE",
    ]);
    expect(Object.keys(table.unpriced ?? {}).some((code) => BANK_CODES.includes(code))).toBe(false);
  });

  it("answers from storage after an eviction without calling a source, and its whole table can be sent over RPC", async () => {
    const { stub, awake } = bookNamed("evicted");
    const before = await awake((book) => book.table());
    await evictDurableObject(stub);
    const after: RateTable = await stub.table();
    expect(after).toEqual(before);
    expect(HOSTS.map(callsTo)).toEqual([1, 1, 1, 1, 1, 0]);
    expect(quoteRate({ table: after, ...BTC, nowMs: START })).toMatchObject({
      ok: true,
      value: { sources: ["coinbase", "coingecko", "kraken", "frankfurter"] },
    });
  });

  it("is the object that the deployment's rate source calls", async () => {
    const cache = new RateCache();
    const source = rateSourceOf({
      setting: { ok: true, value: { kind: "market", sources: ["coinbase", "kraken"] } },
      book: () => env.RATE_BOOK.getByName(RATE_BOOK_NAME),
      cache: () => cache,
      clock: { nowMs: () => START, sleep },
      nowMs: () => START,
    });
    const before = await bookNamed(RATE_BOOK_NAME).awake((book) => book.table());
    await evictDurableObject(env.RATE_BOOK.getByName(RATE_BOOK_NAME));
    expect(await source.table()).toEqual(before);
  });
});
