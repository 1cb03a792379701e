import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type LogLimits, type LogQuery, scanLogs, tooMuchOf } from "../../../../src/chains/evm/log-scan-client.ts";
import { RUNS } from "../../../support/property-runs.ts";

const LIMITS: LogLimits = { maxBlocks: 64, maxTopics: 8, maxRequests: 100 };
const hex = (value: number) => `0x${value.toString(16)}`;
const word = (value: number) => `0x${value.toString(16).padStart(64, "0")}`;
const hashOf = (height: number) => word(0xb10c_0000 + height);

interface Entry {
  readonly height: number;
  readonly recipient: number;
}
interface Node {
  readonly entries: readonly Entry[];
  readonly maxBlocks: number;
  readonly maxTopics: number;
  readonly maxResults: number;
}
interface Filter {
  readonly fromBlock: string;
  readonly toBlock: string;
  readonly topics: readonly (string | null | readonly string[])[];
}

/** A connection to a node with limits, and the number of requests sent through it. */
function edgeTo(node: Node) {
  const asked = { requests: 0 };
  const answer = (method: string, params: readonly unknown[]) => {
    const [first] = params;
    if (method === "eth_getBlockByNumber") {
      const height = Number(first);
      return { result: { number: hex(height), hash: hashOf(height), timestamp: "0x1" } };
    }
    const { fromBlock, toBlock, topics } = first as Filter;
    const [from, to, named] = [Number(fromBlock), Number(toBlock), topics[2]];
    if (to - from + 1 > node.maxBlocks) return { error: { code: -32_000, message: "block range is too large" } };
    if ((named?.length ?? 0) > node.maxTopics) return { error: { code: -32_000, message: "exceed max topics" } };
    const found = node.entries.filter(
      ({ height, recipient }) =>
        height >= from && height <= to && (named === undefined || named === null || named.includes(word(recipient))),
    );
    if (found.length > node.maxResults)
      return { error: { code: -32_005, message: `query returned more than ${node.maxResults} results` } };
    return { result: found.map(logOf) };
  };
  const fetch = async (_: string, init: RequestInit) => {
    asked.requests++;
    const calls: { id: number; method: string; params: unknown[] }[] = JSON.parse(String(init.body));
    return Response.json(calls.map(({ id, method, params }) => ({ jsonrpc: "2.0", id, ...answer(method, params) })));
  };
  return { edge: { fetch, url: "http://node.example", headers: {}, timeoutMs: 1_000 }, asked };
}

const logOf = ({ height, recipient }: Entry, place = 0) => ({
  address: "0x",
  topics: [word(1), word(2), word(recipient)],
  data: "0x",
  blockNumber: hex(height),
  blockHash: hashOf(height),
  transactionHash: word(place),
  logIndex: hex(place),
});

const queryOf = (from: number, height: number, recipients: number | null): LogQuery => ({
  from,
  to: { height, hash: hashOf(height), timeMs: 1_000 },
  contracts: ["0x"],
  topics: [word(1), null],
  recipients: recipients === null ? null : Array.from({ length: recipients }, (_, place) => word(place)),
});

describe("the scan for all logs of a range", () => {
  it("finds each log once, whatever the limits of the node", async () => {
    const entry = fc.record({ height: fc.integer({ min: 0, max: 99 }), recipient: fc.integer({ min: 0, max: 23 }) });
    const node = fc.record({
      entries: fc.array(entry, { maxLength: 40 }),
      maxBlocks: fc.integer({ min: 1, max: 128 }),
      maxTopics: fc.integer({ min: 1, max: 24 }),
      maxResults: fc.integer({ min: 3, max: 40 }),
    });
    const query = fc.record({ from: fc.integer({ min: 0, max: 49 }), length: fc.integer({ min: 1, max: 50 }) });
    await fc.assert(
      fc.asyncProperty(
        node,
        query,
        fc.option(fc.integer({ min: 1, max: 24 })),
        async (of, { from, length }, recipients) => {
          // At most three logs per block, because a node may return only three logs for one request.
          const entries = of.entries.filter(
            (each, place) => of.entries.findIndex((other) => sameBlock(each, other)) === place,
          );
          const { edge } = edgeTo({ ...of, entries });
          const end = from + length - 1;
          const scan = await scanLogs(edge, queryOf(from, end, recipients), { ...LIMITS, maxRequests: 10_000 });
          const expected = entries.filter(
            ({ height, recipient }) =>
              height >= from && height <= end && (recipients === null || recipient < recipients),
          );
          expect(scan).toMatchObject({ ok: true, value: { toHeight: end } });
          const found = scan.ok ? scan.value.logs.map(({ blockNumber, topics }) => `${blockNumber} ${topics[2]}`) : [];
          expect(found.sort()).toEqual(
            expected.map(({ height, recipient }) => `${hex(height)} ${word(recipient)}`).sort(),
          );
        },
      ),
      { numRuns: RUNS / 5 },
    );
  });

  it("ends early when the requests are used up, but only at the end of a window", async () => {
    const { edge, asked } = edgeTo({ entries: [], maxBlocks: 2, maxTopics: 4, maxResults: 10 });
    const scan = await scanLogs(edge, queryOf(0, 99, 8), { ...LIMITS, maxRequests: 20 });
    // Requests for 64, 32, 16, 8, 4 and 2 blocks with 8 topics are refused, the last one because of its topics. Then every two blocks take two
    // requests.
    expect(scan).toMatchObject({ ok: true, value: { toHeight: 13 } });
    expect(asked.requests).toBe(20);
  });

  it("fails as REFUSED, within the limit of requests, when the node refuses even one block", async () => {
    const { edge, asked } = edgeTo({ entries: [], maxBlocks: 0, maxTopics: 4, maxResults: 10 });
    const scan = await scanLogs(edge, queryOf(0, 99, 8), LIMITS);
    expect(scan).toMatchObject({ ok: false, error: { kind: "REFUSED" } });
    expect(asked.requests).toBeLessThanOrEqual(2 * LIMITS.maxRequests);
  });

  it("fails as REFUSED when one window would take more requests than two scans may send", async () => {
    const { edge, asked } = edgeTo({ entries: [], maxBlocks: 64, maxTopics: 1, maxResults: 10 });
    const scan = await scanLogs(edge, queryOf(0, 9, 50), { ...LIMITS, maxRequests: 20 });
    expect(scan).toMatchObject({ ok: false, error: { kind: "REFUSED" } });
    expect(asked.requests).toBeLessThan(10);
  });

  it.each([
    ["a gateway's refusal of the size", () => new Response("", { status: 413 })],
    ["a response larger than what is read", () => new Response(new Uint8Array(33 * 1_048_576))],
  ])("requests smaller ranges after %s", async (_, tooLarge) => {
    const { edge, asked } = edgeTo({
      entries: [{ height: 9, recipient: 1 }],
      maxBlocks: 9,
      maxTopics: 9,
      maxResults: 9,
    });
    const fetch = async (url: string, init: RequestInit) => {
      const isFirst = asked.requests === 0;
      const answer = await edge.fetch(url, init);
      return isFirst ? tooLarge() : answer;
    };
    const scan = await scanLogs({ ...edge, fetch }, queryOf(1, 9, 2), LIMITS);
    expect(scan).toMatchObject({ ok: true, value: { toHeight: 9, logs: [{ blockNumber: "0x9" }] } });
  });
});

const sameBlock = (a: Entry, b: Entry) => a.height === b.height && a.recipient % 3 === b.recipient % 3;

describe("a refusal of eth_getLogs", () => {
  it.each([
    [-32_005, "query returned more than 10000 results. Try with this block range [0x1, 0x2]."],
    [-32_000, "exceed maximum block range: 5000"],
    [-32_005, "limit exceeded"],
    [-32_602, "Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range"],
    [-32_600, "Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range."],
    [-32_614, "eth_getLogs is limited to a 10,000 range"],
    [-32_000, "block range is too wide"],
    [-32_000, "maximum [from, to] blocks distance: 2000"],
    [-32_000, "query exceeds max results 20000, retry with the range 1-2"],
    [-32_701, "Please specify an address in your request or, to remove restrictions, reduce the range of blocks"],
    [-32_000, "ranges over 10000 blocks are not supported on freetier"],
    [-32_008, "Response is too big"],
    [-32_000, "query timeout exceeded"],
  ])("means too many blocks: %i %s", (code, message) => {
    expect(tooMuchOf({ code, message })).toBe("blocks");
  });

  it.each(["exceed max topics", "exceed max addresses or topics per search position", "too many topics"])(
    "means too many topics: %s",
    (message) => {
      expect(tooMuchOf({ code: -32_000, message })).toBe("topics");
    },
  );

  it.each([
    [429, "Your app has exceeded its compute units per second capacity"],
    [-32_005, "daily request count exceeded, request rate limited"],
    [-32_005, "project ID request rate exceeded"],
    [-32_097, "rate limit exceeded"],
    [-32_000, "you've exceeded the rate-limit of 25 requests per second"],
    [-32_000, "monthly quota exceeded"],
    [-32_000, "Too many requests"],
    [-32_603, "internal error"],
    [-32_601, "the method eth_getLogs does not exist"],
  ])("does not mean that the request was too large: %i %s", (code, message) => {
    expect(tooMuchOf({ code, message })).toBeUndefined();
  });
});
