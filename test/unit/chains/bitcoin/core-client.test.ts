import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { coreClient } from "../../../../src/chains/bitcoin/core-client.ts";
import { CoreBlock, CoreHeader, CoreTransaction } from "../../../../src/chains/bitcoin/core-json.ts";
import { transfersTo } from "../../../../src/chains/bitcoin/utxo-transaction.ts";
import { networkNamed } from "../../../../src/chains/registry/networks.ts";
import { parseExactJson } from "../../../../src/lib/fetch-text.ts";
import { formatFixed } from "../../../../src/lib/money.ts";
import { RUNS } from "../../../support/property-runs.ts";

const SHOP = "rltc1qnj570wj7qpnrjhgqyfvg2lvkq6h2l9h4qascd0";
const OTHER = "rltc1qdx2dh9wy2z5yuhp0hhj0vmu7nm9s8tzlk039n0";
const id = (n: number) => n.toString(16).padStart(64, "0");

/** A script in the format of Litecoin Core 0.21; Bitcoin Core 22 and later write `address` instead of `addresses`. */
const old = (address: string, more: object = {}) => ({
  asm: "0 00",
  hex: "0014",
  reqSigs: 1,
  type: "witness_v0_keyhash",
  addresses: [address],
  ...more,
});

/** An output as JSON. `value` is the text of a number, in any spelling. */
function output(n: number, value: string, script: object): string {
  return `{"ismweb":false,"value":${value},"n":${n},"scriptPubKey":${JSON.stringify(script)}}`;
}

function parsedOf(outputs: readonly string[], inputs = `[{"txid":"${id(7)}","vout":3,"sequence":4294967293}]`) {
  const json = parseExactJson(
    `{"txid":"${id(1)}","size":222,"vin":${inputs},"vout":[${outputs.join(",")}],"hex":"02"}`,
  );
  return CoreTransaction().safeParse(json.ok ? json.value : undefined);
}

function paidBy(outputs: readonly string[], inputs?: string, recipients = new Set([SHOP])) {
  const parsed = parsedOf(outputs, inputs);
  if (!parsed.success) throw parsed.error;
  return transfersTo(recipients, "LTC", parsed.data);
}

describe("the parser of a node's transactions", () => {
  test.each([
    ["0.1", 10_000_000n],
    ["0.10000000", 10_000_000n],
    ["1e-8", 1n],
    ["1E-08", 1n],
    ["0.00000001", 1n],
    ["1.5e+1", 1_500_000_000n],
    ["20999999.97690000", 2_099_999_997_690_000n],
    ["0.28999999", 28_999_999n],
    ["4.35", 435_000_000n],
  ])("reads an amount of %s as exactly %s base units", (text, units) => {
    expect(paidBy([output(0, text, old(SHOP))])).toMatchObject([{ amountUnits: units, outputIndex: "0" }]);
  });

  test("reads every possible amount exactly, whether it is written with eight digits or as the shortest text of a float", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 2_100_000_000_000_000n }), (units) => {
        const text = formatFixed(units, 8);
        expect(paidBy([output(0, text, old(SHOP))])[0]?.amountUnits).toBe(units);
        expect(paidBy([output(0, String(Number(text)), old(SHOP))])[0]?.amountUnits).toBe(units);
      }),
      { numRuns: RUNS },
    );
  });

  test.each([
    ["a ninth digit", output(0, "0.000000001", old(SHOP))],
    ["a negative amount", output(0, "-0.1", old(SHOP))],
    ["an amount that is not a number", output(0, '"much"', old(SHOP))],
    ["no amount outside MWEB", `{"n":0,"scriptPubKey":${JSON.stringify(old(SHOP))}}`],
    ["no index", `{"value":0.1,"scriptPubKey":${JSON.stringify(old(SHOP))}}`],
    ["no script", '{"value":0.1,"n":0}'],
    ["an address of another type", '{"value":1,"n":0,"scriptPubKey":{"type":"pubkeyhash","address":{}}}'],
    ["a missing end", '{"value":0.1'],
    ["nothing but null", "null"],
  ])("refuses the whole transaction for an output with %s", (_, text) => {
    expect(parsedOf([text]).success).toBe(false);
  });

  test("reads several outputs to one recipient as several transfers, each with its own index", () => {
    const outputs = [
      output(0, "0.2", old(OTHER)),
      output(1, "0.1", old(SHOP)),
      output(2, "0.1", old(SHOP)),
      output(3, "0", old(SHOP)),
    ];
    expect(paidBy(outputs).map((each) => each.outputIndex)).toEqual(["1", "2"]);
    expect(new Set(paidBy(outputs).map((each) => each.amountUnits))).toEqual(new Set([10_000_000n]));
  });

  test("finds no recipient in OP_RETURN and MWEB outputs, and reads the other outputs", () => {
    const silent = [
      output(0, "0", { asm: "OP_RETURN aa21", hex: "6a24", type: "nulldata" }),
      `{"ismweb":true,"output_id":"${id(9)}"}`,
      output(2, "48.649872", { asm: "8 aa", hex: "5820", type: "witness_mweb_hogaddr" }),
    ];
    expect(paidBy([...silent, output(3, "1.25", old(SHOP))])).toMatchObject([
      { outputIndex: "3", amountUnits: 125_000_000n },
    ]);
  });

  test.each([
    ["a bare multisig with the recipient's key first", old(SHOP, { type: "multisig", addresses: [SHOP, OTHER] })],
    ["a bare multisig of one key", old(SHOP, { type: "multisig" })],
    ["a bare public key, which is not paid through an address", old(SHOP, { type: "pubkey" })],
    ["an unknown script type", { ...old(SHOP), type: "witness_unknown", address: SHOP, addresses: undefined }],
  ])("does not count %s as a payment to the recipient's address", (_, script) => {
    expect(paidBy([output(0, "1", script)])).toEqual([]);
  });

  test("reads a payment from a coinbase or an MWEB input, and lists no spent outputs for it", () => {
    const outputs = [output(0, "12.5000282", old(SHOP))];
    const [mined] = paidBy(outputs, '[{"coinbase":"02b2","sequence":4294967295}]');
    expect(mined).toMatchObject({ amountUnits: 1_250_002_820n, spends: [], fromAddress: null });
    expect(paidBy(outputs, `[{"ismweb":true,"output_id":"${id(4)}"}]`)[0]?.spends).toEqual([]);
    expect(paidBy(outputs)[0]?.spends).toEqual([`${id(7)}:3`]);
  });

  test("requires confirmations only before a coinbase is spent", () => {
    const outputs = [output(0, "12.5", old(SHOP))];
    const leastOf = (inputs?: string) => paidBy(outputs, inputs)[0]?.leastConfirmations;
    expect(leastOf('[{"coinbase":"02b2","sequence":4294967295}]')).toBe(100);
    expect([leastOf(`[{"ismweb":true,"output_id":"${id(4)}"}]`), leastOf()]).toEqual([undefined, undefined]);
  });

  test("keeps at most twenty inputs of an unconfirmed payment", () => {
    const inputs = Array.from({ length: 300 }, (_, n) => `{"txid":"${id(n)}","vout":${n}}`);
    const [transfer] = paidBy([output(0, "1", old(SHOP))], `[${inputs.join(",")}]`);
    expect(transfer?.spends).toHaveLength(20);
  });

  test("keeps the node's response as JSON, shortened to at most 4 KB", () => {
    const [short] = paidBy([output(0, "1e-8", old(SHOP))]);
    expect(JSON.parse(short?.raw ?? "")).toMatchObject({ txid: id(1), vout: "0", output: { value: "1e-8" } });
    const [long] = paidBy([output(0, "0.5", old(SHOP, { asm: "00".repeat(5_000) }))]);
    expect(long?.raw.length).toBeLessThanOrEqual(4096);
    expect(JSON.parse(long?.raw ?? "")).toMatchObject({ txid: id(1), vout: "0" });
  });

  test.each([
    ["an unknown script type without amount or index", '{"scriptPubKey":{"type":"witness_v9_surprise","address":{}}}'],
    [
      "a bare multisig with null for its address",
      '{"value":1,"n":0,"scriptPubKey":{"type":"multisig","address":null}}',
    ],
    [
      "an OP_RETURN with null for every missing field",
      '{"value":null,"n":null,"scriptPubKey":{"type":"nulldata","address":null,"addresses":null}}',
    ],
    ["a script without a type or an address", '{"value":0,"n":0,"scriptPubKey":{"type":null}}'],
    [
      "a known script type with null for its address",
      '{"value":1,"n":0,"scriptPubKey":{"type":"scripthash","address":null,"addresses":null}}',
    ],
    [
      "an MWEB output with null fields that the node usually leaves out",
      `{"ismweb":true,"output_id":"${id(9)}","value":null,"scriptPubKey":null}`,
    ],
  ])("reads the other outputs despite one that cannot pay a wallet: %s", (_, odd) => {
    expect(paidBy([odd, output(1, "0.5", old(SHOP))])).toMatchObject([{ outputIndex: "1", amountUnits: 50_000_000n }]);
  });

  test.each([
    ["null for every field that a coinbase lacks", '{"txid":null,"vout":null,"coinbase":"02b2"}'],
    ["a different shape", '{"prevout":{}}'],
    ["nothing but null", "null"],
  ])("leaves an input with %s out of the spent outputs", (_, input) => {
    const inputs = `[${input},{"txid":"${id(7)}","vout":3}]`;
    expect(paidBy([output(0, "1", old(SHOP))], inputs)).toMatchObject([{ spends: [`${id(7)}:3`] }]);
  });

  test("reads a block with all its transactions or refuses it, and detects whether a header is on the chain", () => {
    const whole = `{"hash":"${id(5)}","height":434,"time":1795252039,"previousblockhash":"${id(4)}","tx":[{"txid":"${id(1)}","vin":[],"vout":[]}]}`;
    const read = (text: string) => {
      const json = parseExactJson(text);
      return CoreBlock().safeParse(json.ok ? json.value : undefined);
    };
    expect(read(whole).data).toMatchObject({
      block: { height: 434, hash: id(5), timeMs: 1_795_252_039_000 },
      previousHash: id(4),
    });
    for (const broken of [
      whole.slice(0, -9),
      whole.replace(`"txid":"${id(1)}"`, '"txid":"ab"'),
      whole.replace("434", "4e2"),
    ])
      expect(read(broken).success).toBe(false);
    const header = { hash: id(5), height: "434", time: "1", confirmations: "-1" };
    expect(CoreHeader().parse(header).isOnChain).toBe(false);
    expect(CoreHeader().parse({ ...header, confirmations: "1" }).isOnChain).toBe(true);
  });
});

/** A node with only a mempool, in which each transaction pays one address. */
function scriptedNode() {
  const mempool = new Map<string, string>();
  const read: string[] = [];
  let largest = 0;
  const answer = ({ id: call, method, params: [txid = ""] }: { id: number; method: string; params: string[] }) => {
    if (method === "getrawmempool") return { id: call, result: [...mempool.keys()] };
    read.push(txid);
    const address = mempool.get(txid);
    if (address === "POISON") return { id: call, error: { code: -32603, message: "cannot be shown" } };
    if (address === undefined) return { id: call, error: { code: -5, message: "No such mempool transaction" } };
    const script = { type: "pubkeyhash", address, hex: "76" };
    return { id: call, result: { txid, vin: [], vout: [{ n: 0, value: 0.5, scriptPubKey: script }] } };
  };
  const fetch = async (_: string, init: RequestInit) => {
    const calls = JSON.parse(String(init.body));
    if (Array.isArray(calls)) largest = Math.max(largest, calls.length);
    const body = Array.isArray(calls) ? calls.map(answer) : answer(calls);
    return new Response(JSON.stringify(body), { headers: { "content-type": "application/json" } });
  };
  const network = networkNamed("BTC");
  if (network === undefined) throw new Error("no network");
  const clientAnew = () =>
    coreClient({ fetch, network, url: "http://node.test", headers: {}, timeoutMs: 1_000, nowMs: () => 0 });
  return { client: clientAnew(), clientAnew, mempool, read, largest: () => largest };
}

describe("a full mempool", () => {
  const SHOPS = new Set(["shop"]);
  const txidOf = (n: number) => `${n.toString(16).padStart(13, "0")}${"f".repeat(51)}`;

  test("is read newest first, at most 2,000 transactions per call; later calls fetch only the transactions that pay a recipient", async () => {
    const { client, mempool, read, largest } = scriptedNode();
    for (let n = 0; n < 4_500; n++) mempool.set(txidOf(n), n === 4_400 ? "shop" : "somebody");
    let after: string | null = null;
    const nextPart = async () => {
      read.length = 0;
      const part = await client.mempoolPart?.(SHOPS, after);
      if (part?.ok !== true) throw new Error("no part");
      after = part.value.next;
      return { found: part.value.transfers.map(({ txHash }) => txHash).toSorted(), read: read.length };
    };
    expect(await nextPart()).toEqual({ found: [], read: 2_000 });
    // This payment arrives while thousands of transactions are still unread, and the next call finds it.
    mempool.set(txidOf(9_000), "shop");
    expect(await nextPart()).toEqual({ found: [txidOf(9_000)], read: 2_000 });
    expect((await nextPart()).found).toEqual([txidOf(4_400), txidOf(9_000)]);
    expect(await nextPart()).toEqual({ found: [txidOf(4_400), txidOf(9_000)], read: 2 });
    mempool.delete(txidOf(9_000));
    expect(await nextPart()).toEqual({ found: [txidOf(4_400)], read: 1 });
    expect(largest()).toBeLessThanOrEqual(100);
  });

  test("is read completely while transactions arrive and leave, even with a new client for each part", async () => {
    const { client, clientAnew, mempool } = scriptedNode();
    for (let n = 0; n < 10_000; n++) mempool.set(txidOf(3 * n), n % 1_000 === 999 ? "shop" : "somebody");
    const paid = [...mempool].flatMap(([txid, to]) => (to === "shop" ? [txid] : []));
    const found = new Set<string>();
    let after: string | null = null;
    let calls = 0;
    do {
      const part: Awaited<ReturnType<NonNullable<ReturnType<typeof clientAnew>["mempoolPart"]>>> | undefined =
        await clientAnew().mempoolPart?.(SHOPS, after);
      if (part?.ok !== true) throw new Error("no part");
      for (const { txHash } of part.value.transfers) found.add(txHash);
      after = part.value.next;
      calls++;
      for (let n = 0; n < 100; n++) mempool.set(txidOf(3 * (calls * 100 + n) + 1), "somebody").delete(txidOf(3 * n));
    } while (after !== null && calls < 60);
    expect([...found].toSorted()).toEqual(paid);
    expect(calls).toBeLessThanOrEqual(6);
    expect(await client.mempool(SHOPS)).toMatchObject({ ok: true, value: { length: 10 } });
  });

  test("is read except for a transaction that the node cannot return", async () => {
    const { client, mempool } = scriptedNode();
    mempool.set(txidOf(1), "shop").set(txidOf(2), "POISON").set(txidOf(3), "shop");
    expect(await client.mempool(SHOPS)).toMatchObject({ value: [{ txHash: txidOf(1) }, { txHash: txidOf(3) }] });
  });

  test("is not read again when a later call asks for more recipients", async () => {
    const { client, mempool, read } = scriptedNode();
    for (let n = 0; n < 300; n++) mempool.set(txidOf(n), `address-${n}`);
    await client.mempool(SHOPS);
    read.length = 0;
    expect(await client.mempool(new Set(["shop", "address-123", "address-7"]))).toMatchObject({
      value: [{ toAddress: "address-7" }, { toAddress: "address-123" }],
    });
    expect(read.toSorted()).toEqual([txidOf(7), txidOf(123)]);
  });

  test("is read even if a transaction leaves after it was listed", async () => {
    const { client, mempool, read } = scriptedNode();
    mempool.set(txidOf(1), "shop").set(txidOf(2), "shop");
    const keys = mempool.keys.bind(mempool);
    Object.assign(mempool, { keys: () => [...keys(), txidOf(3)].values() });
    expect(await client.mempool(SHOPS)).toMatchObject({ value: [{ txHash: txidOf(1) }, { txHash: txidOf(2) }] });
    expect(read).toContain(txidOf(3));
  });

  test("includes the replacement of a payment that leaves after it was listed", async () => {
    const { client, mempool } = scriptedNode();
    mempool.set(txidOf(1), "shop").set(txidOf(2), "somebody");
    await client.mempool(SHOPS);
    const keys = mempool.keys.bind(mempool);
    let lists = 0;
    const replacedOnceListed = () => {
      const listed = [...keys()];
      if (++lists === 1) mempool.set(txidOf(3), "shop").delete(txidOf(1));
      return listed.values();
    };
    Object.assign(mempool, { keys: replacedOnceListed });
    expect(await client.mempoolPart?.(SHOPS, null)).toMatchObject({
      ok: true,
      value: { transfers: [{ txHash: txidOf(3) }], next: null },
    });
    // If a node lists transactions that it never returns, the mempool is read only twice.
    mempool.delete(txidOf(3));
    Object.assign(mempool, { keys: () => [txidOf(3), ...keys()].values() });
    lists = 0;
    expect(await client.mempoolPart?.(SHOPS, null)).toMatchObject({ ok: true, value: { transfers: [] } });
  });
});
