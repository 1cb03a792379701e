import { describe, expect, test } from "vitest";
import type { ChainClient } from "../../../../src/chains/sources/chain-client.ts";
import { tronRpcClient } from "../../../../src/chains/tron/tron-rpc-client.ts";
import { trongridClient } from "../../../../src/chains/tron/trongrid-client.ts";
import { network } from "../../../support/named-network.ts";

const TRX = network("TRX");
const tokens = TRX.assets.filter(({ contract }) => contract !== null);
const hashOf = (height: number) => height.toString(16).padStart(16, "0") + "ab".repeat(24);
const refOf = (height: number) => ({ height, hash: hashOf(height), timeMs: height * 3_000 });
const shop = "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8";

interface Call {
  readonly id: number;
  readonly method: string;
  readonly params: readonly [{ fromBlock?: string; toBlock?: string } & string];
}

function clients(answer: (body: string) => Response): {
  readonly both: readonly ChainClient[];
  readonly sent: RequestInit[];
} {
  const sent: RequestInit[] = [];
  const settings = {
    fetch: async (_: string, init: RequestInit) => {
      sent.push(init);
      return answer(typeof init.body === "string" ? init.body : "");
    },
    network: TRX,
    headers: { "tron-pro-api-key": "hunter2" },
    timeoutMs: 1_000,
    nowMs: () => 0,
  };
  const both = [
    tronRpcClient({ ...settings, url: "https://node.example/jsonrpc" }),
    trongridClient({ ...settings, url: "https://node.example" }),
  ];
  return { both, sent };
}

describe("the TRON clients", () => {
  test.each<[string, () => Response, string]>([
    ["a web page", () => new Response("<html>"), "NOT_JSON"],
    ["half a response", () => new Response('{"jsonrpc":"2.0","id":0,"result":{"num'), "TRUNCATED"],
    [
      "JSON of a different shape",
      () => new Response('{"jsonrpc":"2.0","id":"0","result":7,"blockID":"7"}'),
      "UNEXPECTED_SHAPE",
    ],
    ["java-tron's throttling", () => new Response('{"Error":"class X : lack of computing resources"}'), "RATE_LIMITED"],
    ["TronGrid's throttling", () => new Response("exceeds the frequency limit(15)", { status: 403 }), "RATE_LIMITED"],
    ["a gateway's throttling", () => new Response("", { status: 429 }), "RATE_LIMITED"],
    ["a wrong key", () => new Response("no such key", { status: 403 }), "BANNED"],
    ["a 403 without a body", () => new Response(null, { status: 403 }), "BANNED"],
    ["a broken gateway's error", () => new Response("", { status: 502 }), "BAD_STATUS"],
  ])("report the kind of outage for %s, without the key or the URL", async (_, response, kind) => {
    const { both, sent } = clients(response);
    for (const client of both) {
      const answer = await client.tip();
      expect(answer).toMatchObject({ ok: false, error: { kind } });
      expect(JSON.stringify(answer)).not.toMatch(/hunter2|node\.example/);
    }
    expect(sent.every(({ headers }) => new Headers(headers).get("tron-pro-api-key") === "hunter2")).toBe(true);
  });

  test("scan a token-only range in calls of at most 5,000 blocks", async () => {
    const ranges: (readonly [string | undefined, string | undefined])[] = [];
    const answer = (body: string) => {
      const asked: unknown = JSON.parse(body);
      const one = ({ id, method, params: [first] }: Call) => {
        if (method === "eth_getLogs") ranges.push([first.fromBlock, first.toBlock]);
        const { height, hash, timeMs } = refOf(Number(first));
        const block = {
          number: `0x${height.toString(16)}`,
          hash: `0x${hash}`,
          timestamp: `0x${(timeMs / 1000).toString(16)}`,
        };
        return { jsonrpc: "2.0", id, result: method === "eth_getLogs" ? [] : block };
      };
      return Response.json(Array.isArray(asked) ? asked.map(one) : one(asked as Call));
    };
    const [rpc] = clients(answer).both;
    const scan = await rpc?.scan({ from: 1_000, to: refOf(12_000), recipients: new Set([shop]), assets: tokens });
    expect(scan).toEqual({ ok: true, value: { transfers: [], to: refOf(12_000) } });
    expect(ranges).toEqual([
      ["0x3e8", "0x176f"],
      ["0x1770", "0x2af7"],
      ["0x2af8", "0x2ee0"],
    ]);
  });

  test.each([true, false])("accept whole blocks only if each follows the previous one (here: %j)", async (isChain) => {
    const answer = (body: string) => {
      const calls = JSON.parse(body) as readonly Call[];
      const one = ({ id, params: [tag] }: Call) => {
        const { height, hash } = refOf(Number(tag));
        const parentHash = `0x${hashOf(isChain || height !== 3 ? height - 1 : 9)}`;
        return {
          jsonrpc: "2.0",
          id,
          result: { number: tag, hash: `0x${hash}`, parentHash, timestamp: "0x1", transactions: [] },
        };
      };
      return Response.json(calls.map(one));
    };
    const [rpc] = clients(answer).both;
    const native = TRX.assets.filter(({ contract }) => contract === null);
    const scan = await rpc?.scan({ from: 2, to: refOf(4), recipients: new Set([shop]), assets: native });
    expect(scan).toMatchObject(isChain ? { ok: true } : { ok: false, error: { kind: "BEHIND" } });
  });

  test("send no request when a token scan has no recipients", async () => {
    const { both, sent } = clients(() => new Response("", { status: 500 }));
    const scan = await both[0]?.scan({ from: 1, to: refOf(3), recipients: new Set(), assets: tokens });
    expect([scan, sent]).toEqual([{ ok: true, value: { transfers: [], to: refOf(3) } }, []]);
  });
});
