import { describe, expect, it } from "vitest";
import { CRYPTO_CODES } from "../../../src/chains/registry/networks.ts";
import { BANK_CODES, FIAT_CODES } from "../../../src/lib/fiat-codes.ts";
import { coinbaseClient } from "../../../src/rates/coinbase-client.ts";
import { coingeckoClient } from "../../../src/rates/coingecko-client.ts";
import { currencyApiClient } from "../../../src/rates/currency-api-client.ts";
import { frankfurterClient } from "../../../src/rates/frankfurter-client.ts";
import { krakenClient } from "../../../src/rates/kraken-client.ts";
import { combine } from "../../../src/rates/quote.ts";
import type { RateClientSettings } from "../../../src/rates/rate-client.ts";
import { COINBASE, coingecko, currencyApi, frankfurter, KRAKEN } from "../../support/rate-payloads.ts";

const NOW = Date.UTC(2026, 10, 20, 12);
const SECONDS = NOW / 1_000 - 40;

/** A service that gives `answers` one after another, and records the requested URLs. */
function service(...answers: (string | Response)[]) {
  const asked: string[] = [];
  const settings: RateClientSettings = {
    baseUrl: "https://rates.test",
    nowMs: () => NOW,
    timeoutMs: 5_000,
    fetch: async (url) => {
      asked.push(url);
      const answer = answers.shift();
      if (answer === undefined) throw new Error("asked once too often");
      return typeof answer === "string" ? new Response(answer) : answer;
    },
  };
  return { asked, settings };
}

const ask = {
  coinbase: (settings: RateClientSettings) => coinbaseClient(settings).prices(CRYPTO_CODES),
  kraken: (settings: RateClientSettings) => krakenClient(settings).prices(CRYPTO_CODES),
  coingecko: (settings: RateClientSettings) => coingeckoClient(settings).prices(CRYPTO_CODES),
  frankfurter: (settings: RateClientSettings) => frankfurterClient(settings).rates(FIAT_CODES),
  "currency-api": (settings: RateClientSettings) => currencyApiClient(settings).rates(FIAT_CODES),
};
type Name = keyof typeof ask;
const NAMES: Name[] = ["coinbase", "kraken", "coingecko", "frankfurter", "currency-api"];
/** The number of hosts of each source. After a failure the next host is asked. */
const HOSTS: Record<Name, number> = { coinbase: 1, kraken: 1, coingecko: 1, frankfurter: 1, "currency-api": 2 };
const PAYLOADS: Record<Name, string> = {
  coinbase: COINBASE,
  kraken: KRAKEN,
  coingecko: coingecko(SECONDS),
  frankfurter: frankfurter("2026-11-19"),
  "currency-api": currencyApi("2026-11-19"),
};

async function pointsOf(name: "coinbase" | "kraken" | "coingecko") {
  const { asked, settings } = service(PAYLOADS[name]);
  const points = await ask[name](settings);
  if (!points.ok) throw new Error(points.error.message);
  return { asked, points: points.value };
}

describe("among all sources,", () => {
  it.each(["coinbase", "kraken", "coingecko"] as const)(
    "%s prices every asset of the registry in one call",
    async (name) => {
      const { asked, points } = await pointsOf(name);
      expect(asked).toHaveLength(1);
      expect(points.map((point) => point.asset)).toEqual(CRYPTO_CODES);
      for (const point of points)
        expect(point).toMatchObject({ source: name, usd: expect.stringMatching(/^\d+(\.\d+)?$/) });
    },
  );

  it("every asset, including stablecoins and EURC, gets its rate from three price sources", async () => {
    const all = await Promise.all((["coinbase", "kraken", "coingecko"] as const).map(pointsOf));
    const fiat = await ask.frankfurter(service(PAYLOADS.frankfurter).settings);
    const table = combine({ prices: all.flatMap((each) => each.points), fiat: fiat.ok ? fiat.value : [] }, NOW);
    expect(Object.keys(table.assets).sort()).toEqual([...CRYPTO_CODES].sort());
    for (const rate of Object.values(table.assets)) expect(rate.sources).toEqual(["coinbase", "coingecko", "kraken"]);
  });

  it.each(
    NAMES.flatMap((name): [Name, string, string | (() => Response), string][] => [
      [name, "a web page with status 200", "<!doctype html><title>Just a moment...</title>", "NOT_JSON"],
      [name, "a truncated body", PAYLOADS[name].slice(0, -30), "TRUNCATED"],
      [name, "an empty body", "", "NOT_JSON"],
      [name, "JSON of a different shape", "[]", "UNEXPECTED_SHAPE"],
      [name, "null", "null", "UNEXPECTED_SHAPE"],
      [name, "an empty object", "{}", "UNEXPECTED_SHAPE"],
      [name, "429", () => new Response("slow down", { status: 429, headers: { "retry-after": "60" } }), "RATE_LIMITED"],
      [
        name,
        "a redirect",
        () => new Response(null, { status: 302, headers: { location: "https://evil.test/" } }),
        "BAD_STATUS",
      ],
      [name, "500", () => new Response("{}", { status: 500 }), "BAD_STATUS"],
      [name, "a body that is too large", `{"x":"${"y".repeat(300_000)}"}`, "TOO_LARGE"],
    ]),
  )("%s responding with %s is reported as an outage", async (name, _, answer, kind) => {
    const hosts = HOSTS[name];
    // The body of a response can be read only once.
    const answers = Array.from({ length: hosts }, () => (typeof answer === "string" ? answer : answer()));
    const { asked, settings } = service(...answers);
    expect(await ask[name](settings)).toMatchObject({ ok: false, error: { kind } });
    expect(asked).toHaveLength(hosts);
  });

  it.each(NAMES)("%s that cannot be reached is reported as an outage, not thrown", async (name) => {
    expect(await ask[name](service().settings)).toMatchObject({ ok: false, error: { kind: "UNREACHABLE" } });
  });
});

describe("coinbase", () => {
  it("requests all rates of the dollar and inverts them, as of the time of the request", async () => {
    const { asked, points } = await pointsOf("coinbase");
    expect(asked).toEqual(["https://rates.test/v2/exchange-rates?currency=USD"]);
    expect(points[0]).toEqual({ source: "coinbase", asset: "BTC", usd: "68000.0999998863", atMs: NOW });
    expect(points.find((point) => point.asset === "LTC")?.usd).toBe("80");
  });

  it.each([
    ["another base", '{"data":{"currency":"EUR","rates":{"BTC":"0.00001"}}}'],
    ["values that are not text", '{"data":{"currency":"USD","rates":{"BTC":{}}}}'],
    ["no known coin", '{"data":{"currency":"USD","rates":{"AED":"3.67"}}}'],
    ["no usable rate", '{"data":{"currency":"USD","rates":{"BTC":"0","ETH":"-1","LTC":"NaN"}}}'],
  ])("reports a response with %s as an outage", async (_, body) => {
    expect(await ask.coinbase(service(body).settings)).toMatchObject({ error: { kind: "UNEXPECTED_SHAPE" } });
  });

  it("omits an unusable rate and keeps the others", async () => {
    const body = '{"data":{"currency":"USD","rates":{"BTC":"0","LTC":"0.0125"}}}';
    expect(await ask.coinbase(service(body).settings)).toMatchObject({
      ok: true,
      value: [{ asset: "LTC", usd: "80" }],
    });
  });
});

describe("kraken", () => {
  it("requests all pairs at once and takes the middle of ask and bid", async () => {
    const { asked, points } = await pointsOf("kraken");
    expect(asked[0]).toMatch(/^https:\/\/rates\.test\/0\/public\/Ticker\?pair=XBTUSD,LTCUSD,ETHUSD,/);
    expect(points[0]).toEqual({ source: "kraken", asset: "BTC", usd: "68005", atMs: NOW });
    expect(points.find((point) => point.asset === "USDT")?.usd).toBe("0.999665");
  });

  it("reports an error with status 200 as REFUSED, and one about our request rate as RATE_LIMITED", async () => {
    const answered = (code: string) => ask.kraken(service(`{"error":["${code}"]}`).settings);
    expect(await answered("EService:Unavailable")).toMatchObject({
      error: { kind: "REFUSED", message: "EService:Unavailable" },
    });
    expect(await answered("EAPI:Rate limit exceeded")).toMatchObject({ error: { kind: "RATE_LIMITED" } });
    expect(await answered("EGeneral:Too many requests")).toMatchObject({ error: { kind: "RATE_LIMITED" } });
  });

  it("repeats the call once with the permanent pairs when it no longer knows a pair", async () => {
    const spoilt = '{"error":["EQuery:Unknown asset pair"]}';
    const { asked, settings } = service(spoilt, KRAKEN);
    const points = await ask.kraken(settings);
    expect(asked).toHaveLength(2);
    expect(asked[1]).not.toContain("CROUSD");
    expect(points.ok && points.value.map((point) => point.asset)).toEqual([
      "BTC",
      "LTC",
      "ETH",
      "USDT",
      "USDC",
      "DAI",
      "WBTC",
      "TRX",
    ]);
    const twice = service(spoilt, spoilt);
    expect(await ask.kraken(twice.settings)).toMatchObject({ error: { kind: "REFUSED" } });
    expect(twice.asked).toHaveLength(2);
  });

  it("gives no price for a pair without a bid", async () => {
    const empty =
      '{"error":[],"result":{"XXBTZUSD":{"a":["68000","1"],"b":["0.00000","0"]},"XLTCZUSD":{"a":["80"],"b":["80"]}}}';
    expect(await ask.kraken(service(empty).settings)).toMatchObject({ ok: true, value: [{ asset: "LTC", usd: "80" }] });
  });
});

describe("coingecko", () => {
  it("requests all ids at once, keeps every digit, and uses the time in the response", async () => {
    const { asked, points } = await pointsOf("coingecko");
    expect(asked[0]).toMatch(
      /ids=bitcoin,litecoin,ethereum,.*&vs_currencies=usd&include_last_updated_at=true&precision=full$/,
    );
    expect(points[0]).toEqual({
      source: "coingecko",
      asset: "BTC",
      usd: "68005.12345678901234567",
      atMs: NOW - 40_000,
    });
    expect(points.find((point) => point.asset === "POL")?.usd).toBe("0.5");
  });

  it.each([
    ["without a time", '{"bitcoin":{"usd":1}}'],
    ["without a price", '{"bitcoin":{"last_updated_at":1763640000}}'],
    ["with null as its price", '{"bitcoin":{"usd":null,"last_updated_at":1763640000}}'],
    ["with an invalid time", '{"bitcoin":{"usd":1,"last_updated_at":1.5}}'],
    ["that is an error status", '{"status":{"error_code":429,"error_message":"rate limit"}}'],
  ])("reports a response %s as an outage", async (_, body) => {
    expect(await ask.coingecko(service(body).settings)).toMatchObject({ error: { kind: "UNEXPECTED_SHAPE" } });
  });
});

describe("frankfurter", () => {
  it("gives every currency of the bank except the dollar, as of the start of the bank's day", async () => {
    const { asked, settings } = service(PAYLOADS.frankfurter);
    const points = await ask.frankfurter(settings);
    if (!points.ok) throw new Error(points.error.message);
    expect(asked).toEqual(["https://rates.test/v1/latest?base=USD"]);
    expect(["USD", ...points.value.map((point) => point.code)].sort()).toEqual([...BANK_CODES].sort());
    expect(points.value.find((point) => point.code === "IDR")).toEqual({
      source: "frankfurter",
      code: "IDR",
      perUsd: "16855",
      dateMs: Date.UTC(2026, 10, 19),
    });
  });

  it.each([
    ["another base", '{"amount":1.0,"base":"EUR","date":"2026-11-19","rates":{"EUR":0.9}}'],
    ["another amount", '{"amount":10.0,"base":"USD","date":"2026-11-19","rates":{"EUR":9}}'],
    ["an invalid day", '{"amount":1.0,"base":"USD","date":"2026-02-30","rates":{"EUR":0.9}}'],
    ["no known rate", '{"amount":1.0,"base":"USD","date":"2026-11-19","rates":{"XAU":0.0004}}'],
  ])("reports a response with %s as an outage", async (_, body) => {
    expect(await ask.frankfurter(service(body).settings)).toMatchObject({ error: { kind: "UNEXPECTED_SHAPE" } });
  });
});

describe("currency-api", () => {
  it("gives the dollar, the euro and every fiat currency that the bank lacks from one request, as of the start of the response's day", async () => {
    const { asked, settings } = service(PAYLOADS["currency-api"]);
    const points = await ask["currency-api"](settings);
    if (!points.ok) throw new Error(points.error.message);
    expect(asked).toEqual(["https://rates.test/v1/currencies/usd.min.json"]);
    const others = FIAT_CODES.filter((code) => !BANK_CODES.includes(code));
    expect(points.value.map(({ code }) => code).sort()).toEqual(["USD", "EUR", ...others].sort());
    expect(points.value.find(({ code }) => code === "KWD")).toEqual({
      source: "currency-api",
      code: "KWD",
      perUsd: "101",
      dateMs: Date.UTC(2026, 10, 19),
    });
  });

  it("is requested from its second host if the first one fails", async () => {
    const { asked, settings } = service(new Response("", { status: 503 }), PAYLOADS["currency-api"]);
    expect(await ask["currency-api"](settings)).toMatchObject({ ok: true });
    expect(asked[1]).toBe("https://latest.currency-api.pages.dev/v1/currencies/usd.min.json");
  });
});
