import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NETWORKS } from "../../../src/chains/registry/networks.ts";
import { parseChainSources, watchedNetworks } from "../../../src/chains/sources/chain-sources.ts";
import { RUNS } from "../../support/property-runs.ts";

const KIND = { bitcoin: "esplora", evm: "evm-rpc", tron: "tron-rpc" } as const;
const one = (kind: string, url = "https://node.example/v2/key") => [{ kind, url }];

describe("CHAIN_SOURCES", () => {
  it.each([undefined, "", " ", "{}"])("%j means that no network is watched", (text) => {
    expect(parseChainSources({ CHAIN_SOURCES: text })).toEqual({ ok: true, value: new Map() });
  });

  it("accepts any name of a network in upper or lower case, and stores the canonical one", () => {
    for (const { name, aliases, family } of NETWORKS) {
      for (const text of [name, ...aliases].flatMap((each) => [each, each.toLowerCase()])) {
        expect([...watchedNetworks({ CHAIN_SOURCES: JSON.stringify({ [text]: one(KIND[family]) }) })]).toEqual([name]);
      }
    }
  });

  const parsedOne = (source: object) => {
    const parsed = parseChainSources({ CHAIN_SOURCES: JSON.stringify({ BTC: [source] }) });
    return parsed.ok ? parsed.value.get("BTC")?.[0] : parsed.error;
  };

  it("keeps the order of the sources", () => {
    const list = [
      { kind: "blockbook", url: "https://a.example/key" },
      { kind: "core-rpc", url: "http://127.0.0.1:8332" },
    ];
    const parsed = parseChainSources({ CHAIN_SOURCES: JSON.stringify({ btc: list, LTC: one("esplora") }) });
    const expected = { BTC: list, LTC: one("esplora") };
    expect(parsed).toEqual({
      ok: true,
      value: new Map(
        Object.entries(expected).map(([name, of]) => [name, of.map((each) => ({ ...each, headers: {} }))]),
      ),
    });
  });

  it.each([
    ["https://a.example", "https://a.example"],
    ["https://a.example/", "https://a.example"],
    ["https://a.example/v2/Key//", "https://a.example/v2/Key"],
    ["HTTP://A.example:80/$KEY", "http://a.example/$KEY"],
    ["https://a.example/?apikey=a/", "https://a.example?apikey=a/"],
    ["https://a.example/rpc/?apikey=a#b", "https://a.example/rpc?apikey=a"],
    ["http://[::1]:8332/", "http://[::1]:8332"],
  ])("stores the address %s as %s", (url, kept) => {
    expect(parsedOne({ kind: "core-rpc", url })).toEqual({ kind: "core-rpc", url: kept, headers: {} });
  });

  it.each([
    ["http://user:pass@127.0.0.1:8332/", "user:pass"],
    ["http://user@127.0.0.1:8332", "user:"],
    ["http://:pass@127.0.0.1:8332", ":pass"],
    ["http://__cookie__:a%40b%2Fc%3A@127.0.0.1:8332", "__cookie__:a@b/c:"],
    ["http://u:100%25%zz@127.0.0.1:8332", "u:100%25%zz"],
    ["http://\u00fcser:p\u00e4ss@127.0.0.1:8332", "\u00fcser:p\u00e4ss"],
  ])("turns the user information of %j into Basic authorization and removes it from the address", (url, pair) => {
    const authorization = `Basic ${Buffer.from(pair).toString("base64")}`;
    const headers = { authorization };
    expect(parsedOne({ kind: "core-rpc", url })).toEqual({ kind: "core-rpc", url: "http://127.0.0.1:8332", headers });
  });

  it("stores headers under lower-case names, in addition to the authorization", () => {
    const headers = { "TRON-PRO-API-KEY": "a b~c" };
    expect(parsedOne({ kind: "core-rpc", url: "http://u:p@127.0.0.1:8332", headers })).toMatchObject({
      headers: { "tron-pro-api-key": "a b~c", authorization: "Basic dTpw" },
    });
  });

  it.each([
    ["ETH", "must be a JSON object"],
    ["[]", "must be a JSON object"],
    ["null", "must be a JSON object"],
    [JSON.stringify({ DOGE: one("esplora") }), "unknown network, DOGE"],
    ['{"__proto__":[{"kind":"evm-rpc","url":"https://a.example"}]}', "unknown network"],
    [JSON.stringify({ ETH: one("evm-rpc"), ethereum: one("evm-rpc") }), "names ETH twice"],
    ['{"ETH":[]}', "ETH must be a list of at least one"],
    ['{"ETH":{}}', "ETH must be a list of at least one"],
    ['{"ETH":"https://a.example"}', "ETH must be a list of at least one"],
    ['{"ETH":[null]}', "ETH, source 1: kind must be one of evm-rpc"],
    [JSON.stringify({ ETH: ["https://a.example"] }), "ETH, source 1: kind"],
    [JSON.stringify({ polygon: [...one("evm-rpc"), ...one("esplora")] }), "POL, source 2: kind must be one of evm-rpc"],
    [JSON.stringify({ TRX: one("evm-rpc") }), "kind must be one of tron-rpc, trongrid"],
    [JSON.stringify({ BTC: one("toString") }), "kind must be one of esplora, core-rpc, blockbook"],
    ['{"BTC":[{"kind":"core-rpc"}]}', "BTC, source 1: url must start with http:// or https://"],
    [JSON.stringify({ BTC: one("core-rpc", "127.0.0.1:8332") }), "url must start with"],
    [JSON.stringify({ BTC: one("core-rpc", "file:///etc/passwd") }), "url must start with"],
    [
      JSON.stringify({ BTC: one("esplora", "https://a.example/api?key=b") }),
      "url of kind esplora must not have a query",
    ],
    [JSON.stringify({ TRX: one("trongrid", "https://a.example?key=b") }), "url of kind trongrid must not have a query"],
    [
      '{"ETH":[{"kind":"evm-rpc","url":"https://a.example","key":"b"}]}',
      "a source may only have the members kind, url, headers",
    ],
    ['{"ETH":[{"kind":"evm-rpc","url":"https://a.example","headers":[]}]}', "headers must be an object"],
    ['{"ETH":[{"kind":"evm-rpc","url":"https://a.example","headers":"b"}]}', "headers must be an object"],
    ['{"ETH":[{"kind":"evm-rpc","url":"https://a.example","headers":{"a":1}}]}', "headers must be an object"],
    ['{"ETH":[{"kind":"evm-rpc","url":"https://a.example","headers":{"a":""}}]}', "headers must be an object"],
    [
      '{"ETH":[{"kind":"evm-rpc","url":"https://a.example","headers":{"a":"b\\r\\nc: d"}}]}',
      "headers must be an object",
    ],
    ['{"ETH":[{"kind":"evm-rpc","url":"https://a.example","headers":{"a b":"c"}}]}', "headers must be an object"],
    [
      '{"ETH":[{"kind":"evm-rpc","url":"https://a:b@c.example","headers":{"Authorization":"d"}}]}',
      "authorization is given twice",
    ],
  ])("%s is refused with %j, and no network is watched", (text, message) => {
    expect(parseChainSources({ CHAIN_SOURCES: text })).toMatchObject({
      ok: false,
      error: expect.stringContaining(message),
    });
    expect(watchedNetworks({ CHAIN_SOURCES: text }).size).toBe(0);
  });

  it("may be divided into parts with different networks; a network in two parts is refused", () => {
    const part = (name: string) => JSON.stringify({ [name]: one("evm-rpc") });
    const parts = { CHAIN_SOURCES: part("ETH"), CHAIN_SOURCES_2: " ", CHAIN_SOURCES_9: part("polygon") };
    expect([...watchedNetworks(parts)]).toEqual(["ETH", "POL"]);
    expect([...watchedNetworks({ CHAIN_SOURCES_2: part("ETH") })]).toEqual(["ETH"]);
    const twice = parseChainSources({ ...parts, CHAIN_SOURCES_3: part("ethereum") });
    expect(twice).toEqual({ ok: false, error: "CHAIN_SOURCES names ETH twice" });
    const broken = parseChainSources({ ...parts, CHAIN_SOURCES_3: '"ETH"' });
    expect(broken).toMatchObject({ ok: false, error: expect.stringMatching(/^CHAIN_SOURCES_3 must be a JSON object/) });
  });

  it("is refused without a message that shows an address, a key or a password from any part of it", () => {
    const secret = "hunter2key0f3";
    const misplaced = [
      `{${secret}`,
      JSON.stringify(secret),
      JSON.stringify({ [secret]: one("evm-rpc") }),
      JSON.stringify({ [`https://${secret}`]: [] }),
      JSON.stringify({ ETH: secret }),
      JSON.stringify({ ETH: [secret] }),
      JSON.stringify({ ETH: one(secret) }),
      JSON.stringify({ BTC: one("core-rpc", `user:${secret}@node`) }),
      JSON.stringify({ BTC: one("core-rpc", `ftp://user:${secret}@node`) }),
      JSON.stringify({ BTC: one("esplora", `https://node?key=${secret}`) }),
      JSON.stringify({ ETH: [{ ...one("evm-rpc")[0], [secret]: secret }] }),
      JSON.stringify({ ETH: [{ ...one("evm-rpc")[0], headers: { [secret]: 1 } }] }),
      JSON.stringify({ ETH: [{ ...one("evm-rpc")[0], headers: { a: [secret] } }] }),
      JSON.stringify({ ETH: [{ ...one("evm-rpc", `https://a:${secret}@c`)[0], headers: { authorization: secret } }] }),
    ];
    for (const text of misplaced) {
      const parsed = parseChainSources({ CHAIN_SOURCES: text });
      expect(parsed.ok ? secret : parsed.error).not.toContain(secret);
    }
  });

  it("is parsed without an exception, whatever the text", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.json().map((json) => `{"ETH":${json}}`),
        ),
        (text) => {
          const parsed = parseChainSources({ CHAIN_SOURCES: text });
          expect(watchedNetworks({ CHAIN_SOURCES: text }).size).toBe(parsed.ok ? parsed.value.size : 0);
        },
      ),
      { numRuns: RUNS },
    );
  });
});
