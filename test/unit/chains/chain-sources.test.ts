import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseChainSources, watchedNetworks } from "../../../src/chains/chain-sources.ts";
import { NETWORKS } from "../../../src/chains/networks.ts";
import { RUNS } from "../../support/property-runs.ts";

const KIND = { bitcoin: "esplora", evm: "evm-rpc", tron: "tron-rpc" } as const;
const one = (kind: string, url = "https://node.example/v2/key") => [{ kind, url }];

describe("CHAIN_SOURCES", () => {
  it.each([undefined, "", " ", "{}"])("%j watches nothing", (text) => {
    expect(parseChainSources(text)).toEqual({ ok: true, value: new Map() });
  });

  it("a network is known by any of its names in any case, and kept under its canonical one", () => {
    for (const { name, aliases, family } of NETWORKS) {
      for (const text of [name, ...aliases].flatMap((each) => [each, each.toLowerCase()])) {
        expect([...watchedNetworks(JSON.stringify({ [text]: one(KIND[family]) }))]).toEqual([name]);
      }
    }
  });

  it("sources keep their order and their addresses letter for letter, a node's password included", () => {
    const list = [
      { kind: "blockbook", url: "https://a.example/key?x=1#y" },
      { kind: "core-rpc", url: "http://user:pass@127.0.0.1:8332" },
    ];
    const parsed = parseChainSources(JSON.stringify({ btc: list, LTC: one("esplora") }));
    expect(parsed).toEqual({ ok: true, value: new Map(Object.entries({ BTC: list, LTC: one("esplora") })) });
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
    ['{"BTC":[{"kind":"core-rpc"}]}', "BTC, source 1: url must be an http or https address"],
    [JSON.stringify({ BTC: one("core-rpc", "127.0.0.1:8332") }), "url must be"],
    [JSON.stringify({ BTC: one("core-rpc", "file:///etc/passwd") }), "url must be"],
  ])("%s is refused with %j, and watches nothing", (text, message) => {
    expect(parseChainSources(text)).toMatchObject({ ok: false, error: expect.stringContaining(message) });
    expect(watchedNetworks(text).size).toBe(0);
  });

  it("no message repeats an address, a key or a password, wherever they stand", () => {
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
    ];
    for (const text of misplaced) {
      const parsed = parseChainSources(text);
      expect(parsed.ok ? secret : parsed.error).not.toContain(secret);
    }
  });

  it("never throws, whatever the text", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.json().map((json) => `{"ETH":${json}}`),
        ),
        (text) => {
          const parsed = parseChainSources(text);
          expect(watchedNetworks(text).size).toBe(parsed.ok ? parsed.value.size : 0);
        },
      ),
      { numRuns: RUNS },
    );
  });
});
