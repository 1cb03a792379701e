import { describe, expect, it } from "vitest";
import { evmClient } from "../../../../src/chains/evm/evm-client.ts";
import { TRANSFER_TOPIC, topicOf } from "../../../../src/chains/evm/token-log.ts";
import type { ChainClient, ScanRange } from "../../../../src/chains/sources/chain-client.ts";
import { network } from "../../../support/named-network.ts";

const ETH = network("ETH");
const SHOP = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const USDT = "0xdac17f958d2ee523a2206206994597c13d831ec7";
const PAYER = `0x${"44".repeat(20)}`;
const TX = `0x${"cd".repeat(32)}`;
const hex = (value: number | bigint) => `0x${value.toString(16)}`;
const word = (value: number) => `0x${value.toString(16).padStart(64, "0")}`;
const hashOf = (height: number) => word(0xb10c_0000 + height);
const headerOf = (height: number) => ({ number: hex(height), hash: hashOf(height), timestamp: hex(height * 12) });
const refOf = (height: number) => ({ height, hash: hashOf(height), timeMs: height * 12_000 });
const tokens = ETH.assets.filter(({ contract }) => contract !== null);
const range: ScanRange = { from: 5, to: refOf(9), recipients: new Set([SHOP]), assets: tokens };

const LOG = {
  address: USDT,
  topics: [TRANSFER_TOPIC, topicOf(PAYER), topicOf(SHOP)],
  data: word(5),
  blockNumber: hex(7),
  blockHash: hashOf(7),
  transactionHash: TX,
  logIndex: hex(3),
  removed: false,
};
const { logIndex } = LOG;
const RECEIPT = {
  transactionHash: TX,
  blockNumber: hex(7),
  blockHash: hashOf(7),
  status: "0x1",
  gasUsed: "0x5208",
  logs: [{ ...LOG, address: `0x${"66".repeat(20)}`, logIndex: "0x2" }, LOG],
};

type Answer = (method: string, params: readonly unknown[]) => unknown;

function clientOf(answer: Answer): ChainClient {
  return clientBy(async (_, init) => {
    const asked: unknown = JSON.parse(String(init.body));
    const one = ({ id, method, params }: { id: number; method: string; params: readonly unknown[] }) => ({
      jsonrpc: "2.0",
      id,
      result: answer(method, params),
    });
    return Response.json(Array.isArray(asked) ? asked.map(one) : one(asked as Parameters<typeof one>[0]));
  });
}

function clientBy(fetch: (url: string, init: RequestInit) => Promise<Response>): ChainClient {
  const headers = { "x-api-key": "hunter2" };
  return evmClient({
    fetch,
    network: ETH,
    url: "https://node.example/v2/hunter3",
    headers,
    timeoutMs: 1_000,
    nowMs: () => 0,
  });
}

/** A node with one payment; tests may replace parts of it. */
function nodeWith(of: { readonly log?: object; readonly receipt?: object | null }): ChainClient {
  return clientOf((method, [first]) => {
    switch (method) {
      case "eth_getLogs":
        return [{ ...LOG, ...of.log }];
      case "eth_getBlockByNumber":
        return headerOf(Number(first));
      case "eth_getTransactionReceipt":
        return of.receipt === null ? null : { ...RECEIPT, ...of.receipt };
      default:
        throw new Error(method);
    }
  });
}

describe("code at an address", () => {
  it.each<[string, unknown, object]>([
    ["exists at a contract", "0x6080", { ok: true, value: true }],
    ["exists at an account that delegates", `0xef0100${"11".repeat(20)}`, { ok: true, value: true }],
    ["does not exist at an ordinary or unused account", "0x", { ok: true, value: false }],
    ["is unknown if the node answers nothing", null, { ok: false, error: { kind: "UNEXPECTED_SHAPE" } }],
    ["is unknown if the node answers half a byte", "0x6", { ok: false, error: { kind: "UNEXPECTED_SHAPE" } }],
  ])("%s", async (_, code, expected) => {
    const asked: unknown[] = [];
    const client = clientOf((method, params) => {
      asked.push(method, ...params);
      return code;
    });
    expect(await client.hasCode?.(SHOP)).toMatchObject(expected);
    expect(asked).toEqual(["eth_getCode", SHOP, "latest"]);
  });
});

describe("a log from a node", () => {
  it("is a transfer with its index in the receipt and the time of its block", async () => {
    expect(await nodeWith({}).scan(range)).toMatchObject({
      ok: true,
      value: { to: refOf(9), transfers: [{ txHash: TX, outputIndex: "1", amountUnits: 5n, block: refOf(7) }] },
    });
  });

  it("is read correctly in upper-case hexadecimal", async () => {
    const big = (text: string) => `0x${text.slice(2).toUpperCase()}`;
    const log = {
      ...LOG,
      address: big(USDT),
      topics: LOG.topics.map(big),
      transactionHash: big(TX),
      blockHash: big(hashOf(7)),
    };
    expect(await nodeWith({ log }).scan(range)).toEqual(await nodeWith({}).scan(range));
  });

  it.each<[string, object]>([
    ["was removed", { removed: true }],
    ["is below the range", { blockNumber: hex(4) }],
    ["is above the range", { blockNumber: hex(10) }],
    ["is of another contract", { address: PAYER }],
    ["pays another account", { topics: [TRANSFER_TOPIC, topicOf(SHOP), topicOf(PAYER)] }],
    ["has a token id", { topics: [...LOG.topics, word(1)] }],
    ["moves nothing", { data: word(0) }],
  ])("is not a transfer when it %s", async (_, log) => {
    expect(await nodeWith({ log }).scan(range)).toEqual({ ok: true, value: { transfers: [], to: refOf(9) } });
  });

  it("is not a transfer when its transaction was reverted", async () => {
    expect(await nodeWith({ receipt: { status: "0x0" } }).scan(range)).toMatchObject({
      ok: true,
      value: { transfers: [] },
    });
  });

  it.each<[string, Parameters<typeof nodeWith>[0]]>([
    ["has no receipt", { receipt: null }],
    ["is in a different block from its receipt", { log: { blockHash: hashOf(6) } }],
    [
      "has a receipt from a block that is not on the chain",
      { log: { blockHash: word(1) }, receipt: { blockHash: word(1) } },
    ],
    ["is not in its receipt", { receipt: { logs: RECEIPT.logs.slice(0, 1) } }],
    ["differs from the one in its receipt", { receipt: { logs: [{ ...LOG, data: word(6), logIndex }] } }],
  ])("fails the scan as BEHIND, so that nothing is skipped, when it %s", async (_, of) => {
    expect(await nodeWith(of).scan(range)).toMatchObject({ ok: false, error: { kind: "BEHIND" } });
  });

  it.each<[string, object]>([
    ["hash", { transactionHash: "0x1" }],
    ["height", { blockNumber: "7" }],
    ["list of topics", { topics: 7 }],
  ])("with an invalid %s is UNEXPECTED_SHAPE", async (_, log) => {
    expect(await nodeWith({ log }).scan(range)).toMatchObject({ ok: false, error: { kind: "UNEXPECTED_SHAPE" } });
  });
});

describe("full blocks", () => {
  const native = { ...range, assets: ETH.assets.slice(0, 1) };
  const full = (height: number, of: object = {}) => ({
    ...headerOf(height),
    parentHash: hashOf(height - 1),
    transactions: [],
    ...of,
  });
  /** All balances are zero, and there is no Multicall3. */
  const EMPTY = new Map<string, unknown>([
    ["eth_call", "0x"],
    ["eth_getBalance", "0x0"],
  ]);
  const nodeOf = (blocks: (height: number) => unknown) =>
    clientOf((method, [first]) => EMPTY.get(method) ?? blocks(Number(first)));

  it("must be consecutive", async () => {
    expect(await nodeOf(full).scan(native)).toMatchObject({ ok: true });
    for (const other of [null, full(7, { parentHash: word(1) }), full(7, { hash: word(1) }), full(8)]) {
      const scan = await nodeOf((height) => (height === 7 ? other : full(height))).scan(native);
      expect(scan).toMatchObject({ ok: false, error: { kind: "BEHIND" } });
    }
  });

  it.each<[string, unknown, object]>([
    ["give a payment its receipt from the same block", { blockHash: hashOf(7) }, { ok: true }],
    [
      "fail as BEHIND when a receipt is from another block",
      { blockHash: hashOf(6) },
      { ok: false, error: { kind: "BEHIND" } },
    ],
  ])("%s", async (_, receipt, expected) => {
    const transactions = [{ hash: TX, from: PAYER, to: SHOP, value: "0x5" }];
    const client = clientOf((method, [first]) =>
      method === "eth_getTransactionReceipt"
        ? { ...RECEIPT, ...(receipt as object) }
        : (EMPTY.get(method) ?? full(Number(first), Number(first) === 7 ? { transactions } : {})),
    );
    expect(await client.scan(native)).toMatchObject(expected);
  });

  /** These transactions are unsigned. Fields that Ethereum does not have are as op-geth and Nitro return them. */
  const UNSIGNED = [
    [
      "a deposit on the OP Stack",
      { type: "0x7e", sourceHash: word(2), mint: "0x5", isSystemTx: false, gasPrice: "0x0" },
    ],
    ["a deposit without a mint", { type: "0x7e", sourceHash: word(2), mint: null, v: "0x0", r: "0x0", s: "0x0" }],
    ["a deposit on Arbitrum", { type: "0x64", requestId: word(3) }],
    ["a call from Ethereum to Arbitrum", { type: "0x65", requestId: word(3), gas: "0x5208", maxFeePerGas: "0x1" }],
    [
      "a retry on Arbitrum",
      { type: "0x68", ticketId: word(3), refundTo: PAYER, maxRefund: "0x0", submissionFeeRefund: "0x0" },
    ],
    ["a transaction of an unknown type", { type: "0xfe", gasPrice: null, anything: { else: [1] } }],
  ] as const;

  it.each(UNSIGNED)("show a payment made by %s", async (_, fields) => {
    const transactions = [
      { hash: word(4), from: PAYER, to: PAYER, value: "0x0", type: "0x6a", chainId: "0xa4b1" },
      { hash: TX, from: PAYER, to: SHOP, value: "0x5", ...fields },
    ];
    const client = clientOf((method, [first]) =>
      method === "eth_getTransactionReceipt"
        ? { ...RECEIPT, type: fields.type, effectiveGasPrice: undefined, l1Fee: "0x0", depositNonce: "0x1" }
        : (EMPTY.get(method) ?? full(Number(first), Number(first) === 7 ? { transactions } : {})),
    );
    const scan = await client.scan(native);
    const transfers = [{ txHash: TX, outputIndex: "native", amountUnits: 5n, cryptocurrency: "ETH" }];
    expect(scan).toMatchObject({ ok: true, value: { transfers } });
  });

  it("must end with the block whose hash the scan was given", async () => {
    const scan = await nodeOf((height) => full(height, height === 9 ? { hash: word(1) } : {})).scan(native);
    expect(scan).toMatchObject({ ok: false, error: { kind: "BEHIND" } });
  });
});

describe("a scan without recipients or assets", () => {
  it("sends no request", async () => {
    const client = clientBy(async () => {
      throw new Error("asked");
    });
    for (const nothing of [
      { ...range, recipients: new Set<string>() },
      { ...range, assets: [] },
    ])
      expect(await client.scan(nothing)).toEqual({ ok: true, value: { transfers: [], to: range.to } });
  });
});

describe("the lookup of one transaction", () => {
  const request = { txHash: TX, spends: [], recipients: new Set([SHOP]) };
  const transaction = { hash: TX, from: PAYER, to: USDT, value: "0x0" };
  const nodeAt = (of: { readonly blockHash?: string; readonly block?: object | null }) =>
    clientOf((method, [first]) => {
      if (method === "eth_getTransactionByHash") return transaction;
      if (method === "eth_getTransactionReceipt") return { ...RECEIPT, blockHash: of.blockHash ?? hashOf(7) };
      return of.block === undefined ? headerOf(Number(first)) : of.block;
    });

  it("returns its transfers", async () => {
    expect(await nodeAt({}).lookup(request)).toMatchObject({
      ok: true,
      value: { kind: "mined", block: refOf(7), transfers: [{ outputIndex: "1", amountUnits: 5n }] },
    });
  });

  it("is BEHIND when the transaction's block is not on the chain, or not yet", async () => {
    for (const of of [{ blockHash: word(1) }, { block: null }])
      expect(await nodeAt(of).lookup(request)).toMatchObject({ ok: false, error: { kind: "BEHIND" } });
  });

  it("answers unknown for the hash of a block", async () => {
    const client = clientOf((method) => (method.startsWith("eth_getBlockBy") ? headerOf(7) : null));
    expect(await client.lookup({ ...request, txHash: hashOf(7) })).toEqual({ ok: true, value: { kind: "unknown" } });
  });
});

describe("an unusable response", () => {
  it("is RATE_LIMITED, not a missing block, if it reports throttling", async () => {
    const client = clientBy(async () => new Response('{"id":0,"error":{"code":429,"message":"block not found"}}'));
    for (const ask of [client.finalizedHeight, () => client.block(7)])
      expect(await ask()).toMatchObject({ ok: false, error: { kind: "RATE_LIMITED" } });
  });

  it.each<[string, () => Response, string]>([
    ["a web page", () => new Response("<html>"), "NOT_JSON"],
    ["half a response", () => new Response('{"jsonrpc":"2.0","id":0,"result":{"num'), "TRUNCATED"],
    [
      "JSON of a different shape",
      () => new Response('{"jsonrpc":"2.0","id":0,"result":{"height":7}}'),
      "UNEXPECTED_SHAPE",
    ],
    ["JSON that is not JSON-RPC", () => new Response("[7]"), "UNEXPECTED_SHAPE"],
    ["a gateway's throttling", () => new Response("", { status: 429 }), "RATE_LIMITED"],
    [
      "throttling in a 200",
      () => new Response('{"id":0,"error":{"code":-32005,"message":"slow down"}}'),
      "RATE_LIMITED",
    ],
    ["a refusal", () => new Response('{"id":0,"error":{"code":-32600,"message":"hunter3 is no key"}}'), "REFUSED"],
    ["a broken gateway's error", () => new Response("", { status: 502 }), "BAD_STATUS"],
  ])("is reported as an outage, without the key or the URL: %s", async (_, response, kind) => {
    const client = clientBy(async () => response());
    const lookup = { txHash: TX, spends: [], recipients: new Set([SHOP]) };
    const asked = [
      client.verify,
      client.tip,
      () => client.block(7),
      () => client.scan(range),
      () => client.lookup(lookup),
    ];
    for (const ask of asked) {
      const answer = await ask();
      expect(answer).toMatchObject({ ok: false, error: { kind } });
      expect(JSON.stringify(answer)).not.toMatch(/hunter|node\.example/);
    }
  });
});
