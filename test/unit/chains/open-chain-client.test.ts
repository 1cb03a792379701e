import { describe, expect, it, vi } from "vitest";
import { openChainClient } from "../../../src/chains/dispatch/open-chain-client.ts";
import { type Family, NETWORKS, networkNamed } from "../../../src/chains/registry/networks.ts";
import { ChainPool } from "../../../src/chains/sources/chain-pool-client.ts";
import { type ChainSourceKind, parseChainSources } from "../../../src/chains/sources/chain-sources.ts";

/** Each kind of source, with a family of networks that it serves. The setting restricts which kinds a network may use. */
const KINDS: readonly (readonly [ChainSourceKind, Family])[] = [
  ["esplora", "bitcoin"],
  ["core-rpc", "bitcoin"],
  ["blockbook", "bitcoin"],
  ["evm-rpc", "evm"],
  ["tron-rpc", "tron"],
  ["trongrid", "tron"],
];

describe("openChainClient", () => {
  it.each(KINDS)(
    "opens a source of kind %s as a client of that kind on every network of its family",
    (kind, family) => {
      const own = NETWORKS.filter((network) => network.family === family);
      expect(own.length).toBeGreaterThan(1);
      for (const network of own) {
        const source = { kind, url: "https://node.example", headers: {} };
        expect(openChainClient(source, network, { fetch, nowMs: Date.now }).kind).toBe(kind);
      }
    },
  );

  it("sends the setting's authorization and headers, and shows no address or key in failures", async () => {
    const setting = parseChainSources({
      CHAIN_SOURCES: JSON.stringify({
        TRX: [
          { kind: "tron-rpc", url: "https://anna:hunter2@node.example/jsonrpc/" },
          { kind: "trongrid", url: "https://grid.example", headers: { "TRON-PRO-API-KEY": "hunter3" } },
        ],
      }),
    });
    const network = networkNamed("TRX");
    const sources = setting.ok ? setting.value.get("TRX") : undefined;
    if (sources === undefined || network === undefined) throw new Error("the setting was refused");
    const sent: unknown[] = [];
    const lines: string[] = [];
    const edge = {
      fetch: (url: string, init: RequestInit) => {
        const headers = new Headers(init.headers);
        sent.push([url, headers.get("authorization"), headers.get("tron-pro-api-key")]);
        return Promise.reject(new TypeError(`cannot reach ${url} with hunter2 or hunter3`));
      },
      nowMs: () => 0,
    };
    const clients = sources.map((source) => openChainClient(source, network, edge));
    const report = (line: string) => void lines.push(line);
    const pool = new ChainPool({ network: network.name, clients, random: () => 0, report });
    const answer = await pool.attempt(0, (client) => client.tip());
    expect(sent).toEqual([
      ["https://node.example/jsonrpc", "Basic YW5uYTpodW50ZXIy", null],
      ["https://grid.example/wallet/getblockbynum", null, "hunter3"],
    ]);
    expect(answer).toMatchObject({ ok: false, error: { kind: "UNREACHABLE", message: "TypeError" } });
    expect(lines).toHaveLength(2);
    expect(JSON.stringify([answer, lines, pool.states()])).not.toMatch(/hunter|example/);
  });

  it("gives up after eight seconds on a source that hangs, with a message that does not repeat the URL", async () => {
    const network = NETWORKS.find(({ name }) => name === "TRX");
    if (network === undefined) throw new Error("no network");
    const fetch = (_: string, init: RequestInit) =>
      new Promise<Response>((_, reject) => init.signal?.addEventListener("abort", () => reject(init.signal?.reason)));
    const source = { kind: "trongrid", url: "https://hunter2.example", headers: {} } as const;
    vi.useFakeTimers();
    const asked = openChainClient(source, network, { fetch, nowMs: Date.now }).tip();
    await vi.advanceTimersByTimeAsync(8_000);
    vi.useRealTimers();
    expect(await asked).toMatchObject({ ok: false, error: { kind: "TIMEOUT", message: "no answer within 8000 ms" } });
  });
});
