// Tested with payloads as in Blockbook's documentation: fields that are empty or zero are omitted.
import { describe, expect, test } from "vitest";
import { blockbookClient } from "../../../../src/chains/bitcoin/blockbook-client.ts";
import { BlockbookTransaction } from "../../../../src/chains/bitcoin/blockbook-json.ts";
import { transfersTo } from "../../../../src/chains/bitcoin/utxo-transaction.ts";
import { parseExactJson } from "../../../../src/lib/fetch-text.ts";
import { scriptedSource } from "../../../support/scripted-source.ts";

const SHOP = "LUWPbpM43E2p7ZSh8cyTBEkvpHmr3cB8Ez";
const GENESIS = "12a765e31ffd4059bada1e25190f6e98c99d9714d334efa41a195a7e7e04bfe2";
const id = (n: number) => n.toString(16).padStart(64, "0");
const TIP = 2_648_059;
const to = { height: TIP, hash: id(TIP), timeMs: 1_553_096_617_000 };

const inBlock = (height: number) => ({
  blockHash: id(height),
  blockHeight: height,
  confirmations: TIP - height + 1,
  blockTime: 1_553_096_617,
});
/** For an unconfirmed transaction, `blockTime` is the time at which Blockbook first saw it. */
const unconfirmed = { blockHeight: -1, confirmations: 0, blockTime: 1_553_097_000, rbf: true };

const toShop = { value: "209329999999", n: 1, hex: "76a9", addresses: [SHOP], isAddress: true };
const paying = (n: number, where: object, outputs: readonly object[] = [toShop]) => ({
  txid: id(n),
  version: 1,
  vin: [
    { txid: id(n + 900), vout: 2, sequence: 4294967295, n: 0, addresses: ["x"], isAddress: true, value: "1" },
    { txid: id(n + 901), n: 1, addresses: ["x"], isAddress: true },
  ],
  vout: outputs,
  ...where,
  value: "1",
  fees: "100",
  hex: "01",
});

function parsed(value: object) {
  const json = parseExactJson(JSON.stringify(value));
  return BlockbookTransaction().safeParse(json.ok ? json.value : undefined);
}

describe("in a transaction from Blockbook,", () => {
  test("an output is a transfer, and omitted numbers count as zero", () => {
    const { data } = parsed(paying(1, unconfirmed, [{ value: "7", addresses: [SHOP], isAddress: true }, toShop]));
    if (data === undefined) throw new Error("not read");
    expect(transfersTo(new Set([SHOP]), "LTC", data)).toMatchObject([
      { outputIndex: "0", amountUnits: 7n, block: null, spends: [`${id(901)}:2`, `${id(902)}:0`] },
      { outputIndex: "1", amountUnits: 209_329_999_999n },
    ]);
  });

  test.each([
    ["an output without a value", { n: 0, addresses: [SHOP], isAddress: true }],
    ["the text of an OP_RETURN", { value: "5", n: 0, addresses: [SHOP], isAddress: false }],
    ["an output that is not marked as an address", { value: "5", n: 0, addresses: [SHOP] }],
    ["the keys of a bare multisig", { value: "5", n: 0, addresses: [SHOP, "L2"], isAddress: true }],
    ["a script without an address", { value: "5", n: 0, addresses: null, isAddress: true }],
  ])("%s is not a payment", (_, output) => {
    const { data } = parsed(paying(1, unconfirmed, [output]));
    expect(data && transfersTo(new Set([SHOP]), "LTC", data)).toEqual([]);
  });

  test("a transfer has a sender only if the sender is also its recipient", () => {
    const vin = [...paying(1, unconfirmed).vin, { txid: id(7), n: 2, addresses: [SHOP], isAddress: true, value: "9" }];
    const outputs = [toShop, { ...toShop, n: 2, addresses: ["LOther"] }];
    const senders = (value: object) => {
      const { data } = parsed(value);
      return data && transfersTo(new Set([SHOP, "LOther"]), "LTC", data).map(({ fromAddress }) => fromAddress);
    };
    expect(senders(paying(1, unconfirmed, outputs))).toEqual([null, null]);
    expect(senders({ ...paying(1, unconfirmed, outputs), vin })).toEqual([SHOP, null]);
  });

  test("a coinbase transaction spends no outputs", () => {
    expect(parsed({ ...paying(1, inBlock(5)), vin: [{ n: 0, coinbase: "03" }] }).data?.spends).toEqual([]);
  });

  test("only a coinbase needs confirmations before it may be spent", () => {
    const leastOf = (changes: object) => {
      const { data } = parsed({ ...paying(1, inBlock(5), [toShop]), ...changes });
      return data && transfersTo(new Set([SHOP]), "LTC", data)[0]?.leastConfirmations;
    };
    expect([leastOf({ vin: [{ n: 0, coinbase: "03" }] }), leastOf({})]).toEqual([100, undefined]);
  });

  test.each([
    ["an amount with a fraction", paying(1, unconfirmed, [{ ...toShop, value: "0.5" }])],
    ["a block without its height", paying(1, { ...inBlock(5), blockHeight: undefined })],
    ["a height without its block's hash", paying(1, { ...inBlock(5), blockHash: undefined })],
    ["a block without its time", paying(1, { ...inBlock(5), blockTime: undefined })],
    ["an invalid txid", { ...paying(1, unconfirmed), txid: "x" }],
    ["a transaction without outputs", { ...paying(1, unconfirmed), vout: undefined }],
  ])("%s is refused", (_, value) => {
    expect(parsed(value).success).toBe(false);
  });
});

function blockbook() {
  const source = scriptedSource("LTC");
  source.answers.set("/api/v2/block-index/0", { blockHash: GENESIS });
  source.answers.set("/api/v2", { blockbook: { coin: "Litecoin", inSync: true, bestHeight: TIP }, backend: {} });
  source.answers.set(`/api/v2/block-index/${TIP}`, { blockHash: to.hash });
  source.answers.set(`/api/v2/block/${to.hash}`, { page: 1, hash: to.hash, height: TIP, time: 1_553_096_617, txs: [] });
  const historyAt = (page: number, from: number) =>
    `/api/v2/address/${SHOP}?details=txs&pageSize=25&page=${page}&from=${from}`;
  return { source, client: blockbookClient(source.settings), historyAt };
}

describe("the Blockbook client", () => {
  test("recognizes the chain by the hash of block 0", async () => {
    const { source, client } = blockbook();
    expect(await client.verify()).toEqual({ ok: true, value: true });
    source.answers.set("/api/v2/block-index/0", { blockHash: id(1) });
    expect(await client.verify()).toMatchObject({ ok: false, error: { kind: "WRONG_CHAIN" } });
  });

  test("takes the newest indexed block as the tip, and fetches that block only once", async () => {
    const { source, client } = blockbook();
    expect(await client.tip()).toEqual({ ok: true, value: to });
    expect(await client.tip()).toEqual({ ok: true, value: to });
    expect(source.asked.filter((path) => path.includes("/block/"))).toHaveLength(1);
    source.answers.set(`/api/v2/block-index/${TIP + 1}`, { blockHash: "" });
    source.answers.set(`/api/v2/block-index/${TIP + 2}`, {});
    expect(await client.block(TIP + 1)).toEqual({ ok: true, value: null });
    expect(await client.block(TIP + 2)).toEqual({ ok: true, value: null });
  });

  test("reports a server in its initial sync as BEHIND", async () => {
    const { source, client } = blockbook();
    source.answers.set("/api/v2", { blockbook: { initialSync: true, bestHeight: 5 } });
    expect(await client.tip()).toMatchObject({ ok: false, error: { kind: "BEHIND" } });
  });

  test("returns the mined transfers of a scan, and later the unconfirmed transfers from the same responses", async () => {
    const { source, client, historyAt } = blockbook();
    const transactions = [
      paying(1, unconfirmed),
      paying(2, inBlock(TIP + 1)),
      paying(3, inBlock(TIP)),
      paying(4, inBlock(TIP - 5)),
    ];
    source.answers.set(historyAt(1, TIP - 5), { page: 1, totalPages: 1, itemsOnPage: 25, address: SHOP, transactions });
    const recipients = new Set([SHOP]);
    const scan = await client.scan({ from: TIP - 5, to, recipients, assets: [] });
    expect(scan.ok && scan.value.transfers.map(({ txHash }) => txHash)).toEqual([id(3), id(4)]);
    expect(scan.ok && scan.value.transfers[0]?.block).toEqual(to);
    expect(await client.mempool(recipients)).toMatchObject({ value: [{ txHash: id(1), block: null }] });
    expect(source.asked).toHaveLength(2);
  });

  test("accepts the history of an unpaid address, which has no list of transactions", async () => {
    const { source, client, historyAt } = blockbook();
    source.answers.set(historyAt(1, 7), {
      page: 1,
      itemsOnPage: 25,
      address: SHOP,
      balance: "0",
      unconfirmedTxs: 0,
      txs: 0,
    });
    expect(await client.scan({ from: 7, to, recipients: new Set([SHOP]), assets: [] })).toMatchObject({
      value: { transfers: [] },
    });
  });

  test("reads every page of a long history, and stops when the server repeats the last page", async () => {
    const { source, client, historyAt } = blockbook();
    const pageOf = (page: number, length: number) => ({
      page,
      itemsOnPage: 25,
      transactions: Array.from({ length }, (_, n) => paying(page * 100 + n, inBlock(TIP - page))),
    });
    source.answers.set(historyAt(1, 7), pageOf(1, 25));
    source.answers.set(historyAt(2, 7), pageOf(2, 25));
    source.answers.set(historyAt(3, 7), pageOf(2, 25));
    const scan = await client.scan({ from: 7, to, recipients: new Set([SHOP]), assets: [] });
    expect(scan.ok && scan.value.transfers).toHaveLength(50);
  });

  test("reports a server that returns the same page for every page number as UNEXPECTED_SHAPE", async () => {
    const { source, client, historyAt } = blockbook();
    const transactions = Array.from({ length: 25 }, (_, n) => paying(100 + n, inBlock(TIP - 1)));
    for (const page of [1, 2, 3]) source.answers.set(historyAt(page, 7), { page, itemsOnPage: 25, transactions });
    const request = { address: SHOP, from: 7, to, assets: [], after: null, pages: 2 };
    expect(await client.history?.(request)).toMatchObject({ ok: false, error: { kind: "UNEXPECTED_SHAPE" } });
  });

  test("distinguishes unknown, replaced and mined transactions from a server error", async () => {
    const { source, client } = blockbook();
    const spends = [`${id(9)}:1`];
    const lookUp = () => client.lookup({ txHash: id(3), spends, recipients: new Set([SHOP]) });
    source.answers.set(
      `/api/v2/tx/${id(9)}?spending=true`,
      paying(9, inBlock(TIP - 9), [{ n: 0 }, { ...toShop, spent: true }]),
    );
    source.statuses.set(`/api/v2/tx/${id(3)}`, 400);
    source.answers.set(`/api/v2/tx/${id(3)}`, { error: `Transaction '${id(3)}' not found (backend is gone)` });
    expect(await lookUp()).toMatchObject({ ok: false, error: { kind: "BAD_STATUS" } });
    source.answers.set(`/api/v2/tx/${id(3)}`, { error: `Transaction '${id(3)}' not found` });
    expect(await lookUp()).toEqual({ ok: true, value: { kind: "unknown" } });
    const spent = { ...toShop, spent: true, spentTxId: id(4) };
    source.answers.set(`/api/v2/tx/${id(9)}?spending=true`, paying(9, inBlock(TIP - 9), [{ n: 0 }, spent]));
    expect(await lookUp()).toEqual({ ok: true, value: { kind: "replaced" } });
    source.statuses.delete(`/api/v2/tx/${id(3)}`);
    source.answers.set(`/api/v2/tx/${id(3)}`, paying(3, inBlock(TIP - 1)));
    expect(await lookUp()).toMatchObject({ value: { kind: "mined", block: { height: TIP - 1, hash: id(TIP - 1) } } });
  });

  test("reports a transaction that lost its block as replaced once a mined transaction spends its inputs, and a coinbase that lost its block as unknown", async () => {
    const { source, client } = blockbook();
    const kept = async (vin?: readonly object[]) => {
      source.answers.set(`/api/v2/tx/${id(3)}`, { ...paying(3, unconfirmed), ...(vin === undefined ? {} : { vin }) });
      const found = await client.lookup({ txHash: id(3), spends: [], recipients: new Set([SHOP]) });
      return found.ok && found.value.kind;
    };
    const madeBy = (n: number, spent: object) => {
      const outputs = [0, 1, 2].map(() => ({ ...toShop, ...spent }));
      source.answers.set(`/api/v2/tx/${id(n)}?spending=true`, paying(n, inBlock(TIP - 9), outputs));
    };
    // Blockbook does not mark outputs as spent by a mempool transaction.
    for (const n of [903, 904]) madeBy(n, {});
    expect(await kept()).toBe("pending");
    madeBy(904, { spent: true, spentTxId: id(4) });
    expect(await kept()).toBe("replaced");
    expect(await kept([{ sequence: 4294967295, n: 0, isAddress: false, coinbase: "01" }])).toBe("unknown");
    // Blockbook lists no inputs for a payment from inside MWEB.
    expect(await kept([])).toBe("pending");
  });

  test("reports the kind of outage when the response is a web page, is truncated or is an error", async () => {
    const { source, client, historyAt } = blockbook();
    const scan = async (answer: unknown, status = 200) => {
      source.answers.set(historyAt(1, 7), answer);
      source.statuses.set(historyAt(1, 7), status);
      const read = await client.scan({ from: 7, to, recipients: new Set([SHOP]), assets: [] });
      return read.ok ? "read" : read.error.kind;
    };
    expect(await scan("<html>")).toBe("NOT_JSON");
    expect(await scan('{"page":1,"transactions":[{"txid"')).toBe("TRUNCATED");
    expect(await scan({ page: 1, transactions: {} })).toBe("UNEXPECTED_SHAPE");
    expect(await scan({ error: "Invalid address" }, 400)).toBe("BAD_STATUS");
    expect(await scan("", 502)).toBe("BAD_STATUS");
    expect(await scan("", 429)).toBe("RATE_LIMITED");
    expect(await scan({ page: 1 })).toBe("read");
  });
});
