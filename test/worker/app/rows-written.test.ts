// The cost of an invoice in D1: rows written (each index entry counts as one) and bytes. Rows written are billed and take much of a batch's time; a
// database is full at 10 GB (docs/design/performance.md).
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { countingDatabase, noCounts } from "../../../bench/counted-database.ts";
import { networkNamed } from "../../../src/chains/registry/networks.ts";
import type { Transfer } from "../../../src/chains/sources/transfer.ts";
import { invoiceDependencies } from "../../../src/commerce/invoices/dependencies.ts";
import { applyTransfers } from "../../../src/detection/matching/apply-transfers.ts";
import { sleep } from "../../../src/lib/sleep.ts";
import { openDb } from "../../../src/platform/db/client.ts";
import { type Ask, seedKey, seedMerchant, sendWith } from "../../support/access.ts";
import { BTC, directWallet, randomHex, USDT, xpubWallet } from "../../support/wallet-bodies.ts";
import { MUTED } from "../../support/webhooks.ts";

const CONFIRMATIONS = 3;

/** Allows one key many requests within a minute. */
const UNLIMITED = { RATE_LIMIT_PER_MINUTE: "1000000" } as unknown as Partial<Env>;

interface ShownMethod {
  readonly address: string;
  readonly amount: string;
}

/** A merchant with a wallet of each type, and a key that was used just now, so no last use is recorded with the request. */
async function shop() {
  const merchantId = await seedMerchant();
  const key = await seedKey(merchantId, { lastUsedAtMs: Date.now() });
  const counts = noCounts();
  const DB = countingDatabase(env.DB, counts);
  const send = async (rest: string, ask: Ask = {}) =>
    sendWith({ ...MUTED, ...UNLIMITED, DB }, `/api/v1/merchants/merchant/${merchantId}${rest}`, { key, ...ask });
  const post = async (rest: string, body: object, headers: Readonly<Record<string, string>> = {}) => {
    const answer = await send(rest, { method: "POST", body, headers });
    expect(answer.status, answer.text).toBe(201);
    return answer;
  };
  await post("/wallets", { ...directWallet(), requiredConfirmations: CONFIRMATIONS });
  await post("/wallets", xpubWallet());
  const create = async (more: object = {}) => {
    const body = { name: "Order", rawAmount: 25, currency: "USD", paymentMethods: [], ...more };
    return post("/invoices", body, { "idempotency-key": crypto.randomUUID() });
  };
  // A merchant's first activation on a network writes an additional row, for its turn in the watch.
  await create({ paymentMethods: [USDT, BTC] });
  const look = async (transfer: Transfer, tipHeight: number) => {
    const network = networkNamed("ETH");
    if (network === undefined) throw new Error("no network");
    const deps = invoiceDependencies({ ...env, DB }, { db: openDb(DB), nowMs: Date.now(), sleep });
    const found = await applyTransfers(deps, {
      network,
      heights: { tipHeight, finalizedHeight: null },
      transfers: [transfer],
      seen: [],
      hasSecond: false,
    });
    expect(found).toMatchObject({ ok: true, value: { invoices: [expect.any(String)] } });
  };
  /** Creates an invoice with a method on a shared address; its payment is seen in a block, and then confirmed. */
  const pay = async (nth: number) => {
    const { json } = await create({ rawAmount: 25 + nth, paymentMethods: [USDT] });
    const [method] = (json?.paymentMethods ?? []) as readonly ShownMethod[];
    if (method === undefined) throw new Error("no payment method");
    const transfer = transferOf(method.address, BigInt(Math.round(Number(method.amount) * 1e6)));
    await look(transfer, 100);
    await look(transfer, 100 + CONFIRMATIONS);
    expect((await send(`/invoices/${json?.id}`)).json).toMatchObject({ status: "PAID" });
  };
  const written = async (work: () => Promise<unknown>): Promise<number> => {
    const before = counts.rowsWritten;
    await work();
    return counts.rowsWritten - before;
  };
  return { create, pay, post, written };
}

function transferOf(toAddress: string, amountUnits: bigint): Transfer {
  return {
    cryptocurrency: "USDT",
    txHash: `0x${randomHex(32)}`,
    outputIndex: "0",
    fromAddress: `0x${randomHex(20)}`,
    toAddress,
    amountUnits,
    block: { height: 100, hash: "h100", timeMs: Date.now() },
    spends: [],
    raw: '{"log":1}',
  };
}

async function bytesOfDatabase(): Promise<number> {
  return (await env.DB.prepare("select 1").all()).meta.size_after;
}

/** D1 grows by pages, so a single invoice shows little; with 60 of them each figure is accurate within a kilobyte. */
const MANY = 60;

async function bytesOfEach(make: (nth: number) => Promise<unknown>): Promise<number> {
  const before = await bytesOfDatabase();
  for (let nth = 0; nth < MANY; nth++) await make(nth);
  return ((await bytesOfDatabase()) - before) / MANY;
}

describe("no more rows than needed are written", () => {
  it("for a new invoice without a payment method, or with each type of method", async () => {
    const { create, written } = await shop();
    expect({
      without: await written(() => create()),
      direct: await written(() => create({ paymentMethods: [USDT] })),
      xpub: await written(() => create({ paymentMethods: [BTC] })),
    }).toEqual({ without: 18, direct: 32, xpub: 31 });
  });

  it("for each event and endpoint", async () => {
    const { create, post, written } = await shop();
    const [bare, paid] = [await written(() => create()), await written(() => create({ paymentMethods: [USDT] }))];
    await post("/webhooks", { url: "https://hooks.example.com/edgetill", events: ["*"] });
    // The invoice with a payment method has one more event.
    expect((await written(() => create())) - bare).toBe(4);
    expect((await written(() => create({ paymentMethods: [USDT] }))) - paid).toBe(8);
  });

  it("over the whole life of a paid invoice", async () => {
    const { pay, written } = await shop();
    expect(await written(() => pay(1))).toBe(88);
  });
});

describe("the bytes in D1 stay within bounds", () => {
  it("for a new invoice and for a paid one", async () => {
    const { create, pay } = await shop();
    const without = await bytesOfEach(() => create());
    const direct = await bytesOfEach((nth) => create({ rawAmount: 1 + nth, paymentMethods: [USDT] }));
    const paid = await bytesOfEach((nth) => pay(nth));
    expect(without).toBeLessThan(2_800);
    expect(direct).toBeLessThan(4_500);
    expect(paid).toBeLessThan(10_500);
  });
});
