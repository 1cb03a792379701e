import { describe, expect, test } from "vitest";
import { esploraClient } from "../../../../src/chains/bitcoin/esplora-client.ts";
import { EsploraTransaction } from "../../../../src/chains/bitcoin/esplora-json.ts";
import { transfersTo } from "../../../../src/chains/bitcoin/utxo-transaction.ts";
import { type JsonText, parseExactJson } from "../../../../src/lib/fetch-text.ts";
import { scriptedSource } from "../../../support/scripted-source.ts";

const SHOP = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4";
const id = (n: number) => n.toString(16).padStart(64, "0");
const TIP = 800_000;
const to = { height: TIP, hash: id(TIP), timeMs: 1_700_000_000_000 };

const minedAt = (height: number) => ({
  confirmed: true,
  block_height: height,
  block_hash: id(height),
  block_time: 1_700_000_000,
});

/** A transaction in the format of blockstream.info. */
const paying = (n: number, status: object, value = 5_000 + n) => ({
  txid: id(n),
  version: 2,
  locktime: 0,
  vin: [{ txid: id(n + 900), vout: 1, prevout: null, scriptsig: "", is_coinbase: false, sequence: 4294967293 }],
  vout: [
    { scriptpubkey: "6a04", scriptpubkey_asm: "OP_RETURN", scriptpubkey_type: "op_return", value: 0 },
    { scriptpubkey: "0014", scriptpubkey_type: "v0_p2wpkh", scriptpubkey_address: SHOP, value },
  ],
  size: 200,
  weight: 500,
  fee: 300,
  status,
});

const exact = (value: object): JsonText | undefined => {
  const json = parseExactJson(JSON.stringify(value));
  return json.ok ? json.value : undefined;
};

describe("in a transaction from Esplora,", () => {
  test("satoshi are base units, and an OP_RETURN output is not a transfer", () => {
    const parsed = EsploraTransaction().parse(exact(paying(1, minedAt(TIP), 2_099_999_997_690_000)));
    expect(transfersTo(new Set([SHOP]), "BTC", parsed)).toMatchObject([
      { outputIndex: "1", amountUnits: 2_099_999_997_690_000n, block: to, spends: [], fromAddress: null },
    ]);
  });

  test("a coinbase transaction spends no outputs", () => {
    const coinbase = {
      ...paying(1, { confirmed: false }),
      vin: [{ txid: id(0), vout: 4294967295, is_coinbase: true }],
    };
    expect(EsploraTransaction().parse(exact(coinbase)).spends).toEqual([]);
    expect(EsploraTransaction().parse(exact(paying(1, { confirmed: false }))).spends).toEqual([`${id(901)}:1`]);
  });

  test("only a coinbase needs confirmations before it may be spent", () => {
    const leastOf = (is_coinbase: boolean) => {
      const mined = { ...paying(1, minedAt(TIP)), vin: [{ txid: id(0), vout: 1, is_coinbase }] };
      return transfersTo(new Set([SHOP]), "BTC", EsploraTransaction().parse(exact(mined)))[0]?.leastConfirmations;
    };
    expect([leastOf(true), leastOf(false)]).toEqual([100, undefined]);
  });

  test.each([
    ["null for address and amount", { scriptpubkey_address: null, value: null }],
    ["no address or amount", { scriptpubkey: "51" }],
  ])("an output with %s is skipped, and the others are read", (_, odd) => {
    const { vout, ...rest } = paying(1, minedAt(TIP));
    const parsed = EsploraTransaction().parse(exact({ ...rest, vout: [odd, ...vout] }));
    expect(transfersTo(new Set([SHOP]), "BTC", parsed)).toMatchObject([{ outputIndex: "2", amountUnits: 5_001n }]);
  });

  test.each([
    ["a confirmed transaction without a block", paying(1, { confirmed: true })],
    ["a block height without a hash", paying(1, { ...minedAt(5), block_hash: null })],
    ["an amount with a fraction", paying(1, { confirmed: false }, 0.5)],
    ["a negative amount", paying(1, { confirmed: false }, -5)],
    ["an output without an amount", { ...paying(1, minedAt(5)), vout: [{ scriptpubkey_address: SHOP }] }],
    ["an invalid txid", { ...paying(1, minedAt(5)), txid: "../secrets" }],
    ["a transaction without a status", { ...paying(1, minedAt(5)), status: undefined }],
    ["a transaction without outputs", { ...paying(1, minedAt(5)), vout: undefined }],
  ])("%s is refused", (_, value) => {
    expect(EsploraTransaction().safeParse(exact(value)).success).toBe(false);
  });
});

/** A server with one address and its history of confirmed transactions, newest first, in pages. */
function serverOf(of: { readonly heights: readonly number[]; readonly pageLength: number; readonly pending?: number }) {
  const source = scriptedSource("BTC");
  const mined = of.heights.map((height, n) => paying(n + 1, minedAt(height)));
  const pending = Array.from({ length: of.pending ?? 0 }, (_, n) => paying(n + 500, { confirmed: false }));
  const pageAfter = (place: number) => mined.slice(place, place + of.pageLength);
  source.answers.set(`/address/${SHOP}/txs`, [...pending, ...(pending.length < 50 ? pageAfter(0) : [])]);
  source.answers.set(`/address/${SHOP}/txs/chain`, pageAfter(0));
  for (const [place, { txid }] of mined.entries())
    source.answers.set(`/address/${SHOP}/txs/chain/${txid}`, pageAfter(place + 1));
  source.answers.set(`/block-height/${TIP}`, to.hash);
  return source;
}

const scanOf = (source: ReturnType<typeof scriptedSource>, from: number, recipients = new Set([SHOP])) =>
  esploraClient(source.settings).scan({ from, to, recipients, assets: [] });

describe("the history of one address", () => {
  const heights = Array.from({ length: 60 }, (_, n) => TIP - n);

  test.each([10, 25, 50])(
    "is read down to the start of the range, with %i transactions per page",
    async (pageLength) => {
      const source = serverOf({ heights, pageLength });
      const scan = await scanOf(source, TIP - 39);
      expect(scan).toMatchObject({ ok: true, value: { to } });
      expect(scan.ok && scan.value.transfers.map(({ block }) => block?.height)).toEqual(heights.slice(0, 40));
    },
  );

  test("is read to its end if it is all in range", async () => {
    const source = serverOf({ heights: heights.slice(0, 30), pageLength: 25 });
    const scan = await scanOf(source, 0);
    expect(scan.ok && scan.value.transfers).toHaveLength(30);
  });

  test("takes one request if none of it is in range", async () => {
    const source = serverOf({ heights: heights.map((height) => height - 1_000), pageLength: 25 });
    await scanOf(source, TIP - 5);
    expect(source.asked).toEqual([`/address/${SHOP}/txs`, `/block-height/${TIP}`]);
  });

  test("is read even when unconfirmed transactions fill the first page", async () => {
    const source = serverOf({ heights: heights.slice(0, 3), pageLength: 25, pending: 50 });
    const client = esploraClient(source.settings);
    const recipients = new Set([SHOP]);
    const scan = await client.scan({ from: TIP - 5, to, recipients, assets: [] });
    expect(scan.ok && scan.value.transfers).toHaveLength(3);
    const mempool = await client.mempool(recipients);
    expect(mempool.ok && mempool.value).toHaveLength(50);
  });

  test("is TOO_LARGE when it does not end within 200 requests", async () => {
    const source = serverOf({ heights: Array.from({ length: 201 }, (_, n) => TIP - n), pageLength: 1 });
    expect(await scanOf(source, 0)).toMatchObject({ ok: false, error: { kind: "TOO_LARGE" } });
    expect(source.asked.length).toBeLessThanOrEqual(200);
  });

  test("is UNEXPECTED_SHAPE when the server returns the same page for every request", async () => {
    const source = serverOf({ heights: heights.slice(0, 25), pageLength: 25 });
    const page = source.answers.get(`/address/${SHOP}/txs`);
    source.answers.set(`/address/${SHOP}/txs/chain/${id(25)}`, page);
    expect(await scanOf(source, 0)).toMatchObject({ ok: false, error: { kind: "UNEXPECTED_SHAPE" } });
    expect(source.asked).toHaveLength(2);
    // A request for an older page is answered with the first page as well.
    source.answers.set(`/tx/${id(60)}`, paying(60, minedAt(TIP - 59)));
    source.answers.set(`/address/${SHOP}/txs/chain/${id(60)}`, page);
    const request = { address: SHOP, from: 0, to, assets: [], after: id(60), pages: 10 };
    const read = await esploraClient(source.settings).history?.(request);
    expect(read).toMatchObject({ ok: false, error: { kind: "UNEXPECTED_SHAPE" } });
  });
});

describe("a history read a few pages at a time", () => {
  const heights = Array.from({ length: 60 }, (_, n) => TIP - n);
  const request = { address: SHOP, from: TIP - 49, to, assets: [], pages: 1 };
  const history = async (source: ReturnType<typeof scriptedSource>, after: string | null) => {
    // A new client for each call.
    const read = await esploraClient(source.settings).history?.({ ...request, after });
    if (read?.ok !== true) throw new Error("no history");
    return { heights: read.value.transfers.map(({ block }) => block?.height), next: read.value.next };
  };

  test("continues where the last call ended, with any client", async () => {
    const source = serverOf({ heights, pageLength: 25 });
    for (const n of [25, 50]) source.answers.set(`/tx/${id(n)}`, paying(n, minedAt(TIP - n + 1)));
    const found = [];
    let after: string | null = null;
    do {
      const part: Awaited<ReturnType<typeof history>> = await history(source, after);
      found.push(...part.heights);
      after = part.next;
    } while (after !== null);
    expect(found).toEqual(heights.slice(0, 50));
  });

  test("starts over when the transaction that ended the last call has left its block", async () => {
    const source = serverOf({ heights, pageLength: 25 });
    source.answers.set(`/tx/${id(25)}`, paying(25, { confirmed: false }));
    expect((await history(source, id(25))).heights).toEqual(heights.slice(0, 25));
    source.answers.set(`/tx/${id(25)}`, "Transaction not found");
    source.statuses.set(`/tx/${id(25)}`, 404);
    expect((await history(source, id(25))).heights).toEqual(heights.slice(0, 25));
  });

  test("fails only for an address that the server refuses; another address is read", async () => {
    const source = serverOf({ heights: [TIP], pageLength: 25 });
    const other = await esploraClient(source.settings).history?.({ ...request, address: "bc1qrefused", after: null });
    expect(other).toMatchObject({ ok: false, error: { kind: "BAD_STATUS" } });
    expect((await history(source, null)).heights).toEqual([TIP]);
  });
});

describe("a scan", () => {
  test("is BEHIND if the chain changes during the scan: the last block is replaced, or a payment is in a different block of the same height", async () => {
    const changed = serverOf({ heights: [TIP - 1], pageLength: 25 });
    changed.answers.set(`/block-height/${TIP}`, id(1));
    expect(await scanOf(changed, TIP - 5)).toMatchObject({ ok: false, error: { kind: "BEHIND" } });
    const gone = serverOf({ heights: [TIP - 1], pageLength: 25 });
    gone.answers.set(`/block-height/${TIP}`, "Block not found");
    gone.statuses.set(`/block-height/${TIP}`, 404);
    expect(await scanOf(gone, TIP - 5)).toMatchObject({ ok: false, error: { kind: "BEHIND" } });
    const fork = serverOf({ heights: [], pageLength: 25 });
    fork.answers.set(`/address/${SHOP}/txs`, [paying(1, { ...minedAt(TIP), block_hash: id(2) })]);
    fork.answers.set(`/address/${SHOP}/txs/chain/${id(1)}`, []);
    expect(await scanOf(fork, TIP - 5)).toMatchObject({ ok: false, error: { kind: "BEHIND" } });
  });

  test("omits transactions above its range", async () => {
    const source = serverOf({ heights: [TIP + 1, TIP, TIP - 9], pageLength: 25 });
    const scan = await scanOf(source, TIP - 5);
    expect(scan.ok && scan.value.transfers.map(({ block }) => block?.height)).toEqual([TIP]);
  });

  test("asks for four recipients at the same time, and does not ask for all of them after a failure", async () => {
    const source = scriptedSource("BTC");
    source.answers.set(`/block-height/${TIP}`, to.hash);
    const recipients = new Set(Array.from({ length: 40 }, (_, n) => `address${n}`));
    for (const address of recipients) source.answers.set(`/address/${address}/txs`, []);
    expect(await scanOf(source, TIP, recipients)).toMatchObject({ ok: true });
    expect(source.mostAtOnce).toBe(4);
    source.asked.length = 0;
    source.statuses.set("/address/address9/txs", 429);
    expect(await scanOf(source, TIP, recipients)).toMatchObject({ ok: false, error: { kind: "RATE_LIMITED" } });
    expect(source.asked.length).toBeLessThan(16);
  });

  test("sends no request without recipients", async () => {
    const source = scriptedSource("BTC");
    expect(await scanOf(source, TIP, new Set())).toEqual({ ok: true, value: { transfers: [], to } });
    expect(source.asked).toEqual([]);
  });
});

describe("the mempool after a scan", () => {
  test("is taken from the scan's responses once, and is requested after a call to tip, after a minute, or for another set of recipients", async () => {
    const source = serverOf({ heights: [], pageLength: 25, pending: 1 });
    let now = 0;
    const client = esploraClient({ ...source.settings, nowMs: () => now });
    const recipients = new Set([SHOP]);
    const requests = async (work: () => Promise<unknown>) => {
      source.asked.length = 0;
      await work();
      return source.asked.length;
    };
    const scan = () => client.scan({ from: TIP, to, recipients, assets: [] });
    const mempool = () => client.mempool(recipients);
    expect(await requests(scan)).toBe(2);
    expect(await requests(mempool)).toBe(0);
    expect(await requests(mempool)).toBe(1);
    await scan();
    expect(await requests(() => client.mempool(new Set([SHOP])))).toBe(1);
    await scan();
    now += 60_000;
    expect(await requests(mempool)).toBe(1);
    await scan();
    await client.tip();
    expect(await requests(mempool)).toBe(1);
  });
});

describe("the Esplora client", () => {
  test.each([
    ["a web page instead of a hash", "/block-height/7", "<html>Maintenance</html>", "NOT_JSON"],
    ["half a hash", "/block-height/7", id(7).slice(0, 30), "UNEXPECTED_SHAPE"],
    ["no hash at all", "/block-height/7", "", "UNEXPECTED_SHAPE"],
    ["a web page instead of a block", `/block/${id(7)}`, "<!doctype html>", "NOT_JSON"],
    ["half a block", `/block/${id(7)}`, `{"id":"${id(7)}","hei`, "TRUNCATED"],
    ["a list instead of a block", `/block/${id(7)}`, [], "UNEXPECTED_SHAPE"],
    ["a block without its height", `/block/${id(7)}`, { id: id(7), timestamp: 5 }, "UNEXPECTED_SHAPE"],
  ])("reports the kind of outage for %s", async (_, path, answer, kind) => {
    const source = scriptedSource("BTC");
    source.answers.set("/block-height/7", id(7));
    source.answers.set(`/block/${id(7)}`, { id: id(7), height: 7, timestamp: 5 });
    expect(await esploraClient(source.settings).block(7)).toMatchObject({ ok: true, value: { timeMs: 5_000 } });
    source.answers.set(path, answer);
    expect(await esploraClient(source.settings).block(7)).toMatchObject({ ok: false, error: { kind } });
  });

  test("answers unknown only when the server says that it did not find the transaction", async () => {
    const request = { txHash: id(3), spends: [], recipients: new Set([SHOP]) };
    const source = scriptedSource("BTC");
    const client = esploraClient(source.settings);
    expect(await client.lookup(request)).toMatchObject({ ok: false, error: { kind: "BAD_STATUS" } });
    source.answers.set(`/tx/${id(3)}`, "Transaction not found");
    source.statuses.set(`/tx/${id(3)}`, 404);
    expect(await client.lookup(request)).toEqual({ ok: true, value: { kind: "unknown" } });
  });

  test("answers replaced only if another transaction spends one of the same outputs", async () => {
    const source = scriptedSource("BTC");
    source.answers.set(`/tx/${id(3)}`, "Transaction not found");
    source.statuses.set(`/tx/${id(3)}`, 404);
    const spends = [`${id(8)}:0`, `${id(9)}:2`];
    const replaced = async (answer: object) => {
      source.answers.set(`/tx/${id(8)}/outspend/0`, { spent: false });
      source.answers.set(`/tx/${id(9)}/outspend/2`, answer);
      const found = await esploraClient(source.settings).lookup({ txHash: id(3), spends, recipients: new Set() });
      return found.ok && found.value.kind;
    };
    expect(await replaced({ spent: false })).toBe("unknown");
    expect(await replaced({ spent: true, txid: id(3), vin: 0 })).toBe("unknown");
    expect(await replaced({ spent: true, txid: id(4), vin: 0 })).toBe("replaced");
  });

  test("reports a transaction that lost its block as pending only if the server says that this transaction spends its inputs", async () => {
    const source = scriptedSource("BTC");
    source.answers.set(`/tx/${id(3)}`, paying(3, { confirmed: false }));
    const kept = async (answer: object) => {
      source.answers.set(`/tx/${id(903)}/outspend/1`, answer);
      const found = await esploraClient(source.settings).lookup({ txHash: id(3), spends: [], recipients: new Set() });
      return found.ok && found.value.kind;
    };
    expect(await kept({ spent: true, txid: id(3), vin: 0 })).toBe("pending");
    expect(await kept({ spent: true, txid: id(4), vin: 0 })).toBe("replaced");
    expect(await kept({ spent: false })).toBe("unknown");
  });

  test.each([
    {
      // A coinbase transaction is never in a mempool.
      what: "a remembered coinbase whose block left the chain is unknown",
      vin: [{ txid: id(0), vout: 4294967295, is_coinbase: true }],
      kind: "unknown",
    },
    {
      what: "a payment purely from inside MWEB is pending, since no spent output can be checked",
      vin: [],
      kind: "pending",
    },
  ])("$what", async ({ vin, kind }) => {
    const source = scriptedSource("LTC");
    source.answers.set(`/tx/${id(3)}`, { ...paying(3, { confirmed: false }), vin });
    const found = await esploraClient(source.settings).lookup({ txHash: id(3), spends: [], recipients: new Set() });
    expect(found).toMatchObject({ ok: true, value: { kind } });
  });
});
