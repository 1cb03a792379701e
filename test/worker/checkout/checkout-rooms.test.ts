// Open checkout pages, with real sockets of the real Worker: who is notified of a change, who is not, and who may not connect.
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { afterEach, describe, expect, it, vi } from "vitest";
import { networkNamed } from "../../../src/chains/registry/networks.ts";
import { PAGES_PER_INVOICE, PAGES_PER_ROOM } from "../../../src/checkout/live/checkout-room.ts";
import { invoiceDependencies } from "../../../src/commerce/invoices/dependencies.ts";
import { applyTransfers } from "../../../src/detection/matching/apply-transfers.ts";
import type { InvoiceId, MerchantId } from "../../../src/lib/ids.ts";
import { sleep } from "../../../src/lib/sleep.ts";
import { commit } from "../../../src/platform/db/batch.ts";
import { openDb, openWakingDb, tellRooms } from "../../../src/platform/db/client.ts";
import { merchants } from "../../../src/platform/db/schema/merchants.ts";
import { assertions } from "../../../src/platform/db/schema/operations.ts";
import type { EventType, OutboxEvent } from "../../../src/platform/events/event.ts";
import { recordOutbox } from "../../../src/platform/events/store.ts";
import { type Ask, expectRefusal, requestOf, send, sendWith } from "../../support/access.ts";
import { freshId, freshMerchant, type TestMerchant, testDb } from "../../support/worker-merchant.ts";

const OURS = "http://localhost:8787";
const SOON = { timeout: 60_000, interval: 5 };
const USDT = { cryptocurrency: "USDT", network: "ETH" };
const UNKNOWN = "inv_01ARZ3NDEKTSV4RRFFQ69G5FAV";

const sockets: WebSocket[] = [];
afterEach(() => {
  vi.restoreAllMocks();
  for (const socket of sockets.splice(0)) socket.close();
});

const pathOf = (invoiceId: string) => `/pay/${invoiceId}/live`;
const upgrade = (headers: Record<string, string> = {}): Ask => ({ headers: { upgrade: "websocket", ...headers } });

/** An open page of an invoice: the messages it received, and the codes it was closed with. */
async function open(invoiceId: string, headers: Record<string, string> = { origin: OURS }) {
  const response = await exports.default.fetch(requestOf(pathOf(invoiceId), upgrade(headers)));
  const socket = response.webSocket;
  if (socket === null) throw new Error(`no socket but ${response.status} ${await response.text()}`);
  sockets.push(socket);
  const heard: unknown[] = [];
  const closed: number[] = [];
  socket.addEventListener("message", ({ data }) => void heard.push(data));
  socket.addEventListener("close", ({ code }) => void closed.push(code));
  socket.accept();
  return { response, socket, heard, closed };
}

type OpenPage = Awaited<ReturnType<typeof open>>;

/** All messages to a page so far. They arrive before the answer to a later ping. */
async function messagesTo({ socket, heard }: OpenPage): Promise<readonly unknown[]> {
  socket.send("ping");
  await vi.waitFor(() => expect(heard.at(-1)).toBe("pong"), SOON);
  heard.pop();
  return heard;
}

async function invoiceOf(merchant: TestMerchant): Promise<string> {
  const made = await merchant.post("/invoices", { name: "Order", rawAmount: 25 });
  expect(made.status).toBe(201);
  return String(made.body.id);
}

async function cancel(merchant: TestMerchant, invoiceId: string): Promise<void> {
  expect((await merchant.post(`/invoices/${invoiceId}/cancel`)).status).toBe(200);
}

const roomOf = ({ merchantId }: TestMerchant) => env.CHECKOUT_ROOM.getByName(merchantId);

describe("an invoice of a deleted merchant", () => {
  it("has no live page", async () => {
    const shop = await freshMerchant();
    const invoiceId = await invoiceOf(shop);
    await testDb.update(merchants).set({ deletedAtMs: Date.now() }).where(eq(merchants.id, shop.merchantId));
    expectRefusal(await send(pathOf(invoiceId), upgrade()), 404, "INVOICE_NOT_FOUND");
  });
});

describe("a change to an invoice", () => {
  it("is sent to each of its open pages once it is committed, and to no page of another invoice", async () => {
    const [shop, other] = await Promise.all([freshMerchant(), freshMerchant()]);
    const [changed, same] = await Promise.all([invoiceOf(shop), invoiceOf(shop)]);
    const foreign = await invoiceOf(other);
    const pages = await Promise.all([open(changed), open(changed, {}), open(same), open(foreign)]);
    await cancel(shop, changed);
    await vi.waitFor(() => expect(pages.map(({ heard }) => heard.length)).toEqual([1, 1, 0, 0]), SOON);
    await cancel(shop, same);
    await vi.waitFor(() => expect(pages[2].heard).toHaveLength(1), SOON);
    expect(await Promise.all(pages.map(messagesTo))).toEqual([["changed"], ["changed"], ["changed"], []]);
  });

  it("that makes it PAID after an on-chain payment is sent only to that invoice's pages", async () => {
    const shop = await freshMerchant();
    const digits = crypto.randomUUID().replaceAll("-", "");
    const wallet = { walletType: "DIRECT_WALLET", ...USDT, address: `0x${digits}00000000`, requiredConfirmations: 1 };
    const { address } = (await shop.post("/wallets", wallet)).body;
    const made = await shop.post("/invoices", { name: "Order", rawAmount: 25, paymentMethods: [USDT] });
    const paid = await open(made.body.id);
    const waiting = await open(await invoiceOf(shop));
    const background: Promise<unknown>[] = [];
    const db = openWakingDb(env.DB, env, (work) => void background.push(work));
    const network = networkNamed("ETH");
    if (network === undefined) throw new Error("no such network");
    const looked = await applyTransfers(invoiceDependencies(env, { db, nowMs: Date.now(), sleep }), {
      network,
      heights: { tipHeight: 100, finalizedHeight: null },
      seen: [],
      hasSecond: false,
      transfers: [
        {
          cryptocurrency: "USDT",
          txHash: `0x${digits}${digits}`,
          outputIndex: "0",
          fromAddress: null,
          spends: [],
          toAddress: address,
          amountUnits: BigInt(Math.round(made.body.paymentMethods[0].amount * 1e6)),
          raw: "{}",
          block: { height: 100, hash: "h100", timeMs: Date.now() },
        },
      ],
    });
    await Promise.all(background);
    expect(looked).toMatchObject({ ok: true, value: { invoices: [made.body.id] } });
    expect((await shop.get(`/invoices/${made.body.id}`)).body.status).toBe("PAID");
    expect([await messagesTo(paid), await messagesTo(waiting)]).toEqual([["changed"], []]);
  });

  it("reaches its pages after the room was evicted", async () => {
    const shop = await freshMerchant();
    const invoiceId = await invoiceOf(shop);
    const page = await open(invoiceId);
    await evictDurableObject(roomOf(shop));
    await cancel(shop, invoiceId);
    await vi.waitFor(() => expect(page.heard).toEqual(["changed"]), SOON);
    expect(await messagesTo(page)).toEqual(["changed"]);
  });

  it("is not delayed by a page that has closed or is closing", async () => {
    const shop = await freshMerchant();
    const invoiceId = await invoiceOf(shop);
    const [gone, rude, page] = [await open(invoiceId), await open(invoiceId), await open(invoiceId)];
    gone.socket.close(1000);
    await runInDurableObject(roomOf(shop), async (room, state) => {
      const closing = state.getWebSockets(invoiceId);
      expect(closing.length).toBeGreaterThanOrEqual(2);
      for (const socket of closing.slice(0, -1)) room.webSocketMessage(socket);
      await room.tell([invoiceId]);
    });
    expect(await messagesTo(page)).toEqual(["changed"]);
    expect([gone.heard, rude.heard]).toEqual([[], []]);
  });

  it("stores nothing when no page is open", async () => {
    const shop = await freshMerchant();
    const invoiceId = await invoiceOf(shop);
    await cancel(shop, invoiceId);
    await roomOf(shop).tell([invoiceId]);
    const kept = await runInDurableObject(roomOf(shop), async (_, state) => ({
      sockets: state.getWebSockets().length,
      keys: [...(await state.storage.list()).keys()],
      alarm: await state.storage.getAlarm(),
    }));
    expect(kept).toEqual({ sockets: 0, keys: [], alarm: null });
  });
});

describe("recording events", () => {
  const NOW_MS = Date.now();
  const eventOf = (type: EventType, sequence: number, of: { merchantId: MerchantId; invoiceId: InvoiceId | null }) =>
    ({ ...of, id: freshId("evt"), type, sequence, data: "{}", createdAtMs: NOW_MS }) satisfies OutboxEvent;

  async function record(events: readonly OutboxEvent[], isRefused = false): Promise<readonly string[][]> {
    const notified: string[][] = [];
    const db = openDb(env.DB, { tell: (invoices) => void notified.push([...invoices]) });
    const [first, ...rest] = recordOutbox(db, events);
    if (first === undefined) throw new Error("no events");
    const refusal = isRefused ? [db.insert(assertions).values({ name: "never", holds: 0 })] : [];
    const sent = commit(db, [first, ...rest, ...refusal]);
    if (isRefused) await expect(sent).rejects.toThrow();
    else await sent;
    return notified;
  }

  it("notifies once for each invoice in a batch", async () => {
    const one = { merchantId: freshId("mer"), invoiceId: freshId("inv") };
    const other = { merchantId: freshId("mer"), invoiceId: freshId("inv") };
    const events = [
      eventOf("invoice.paid", 1, one),
      eventOf("payment.paid", 2, one),
      eventOf("payment.detected", 1, other),
    ];
    expect(await record(events)).toEqual([
      [`${one.merchantId} ${one.invoiceId}`, `${other.merchantId} ${other.invoiceId}`],
    ]);
  });

  it("notifies nobody when the batch was rolled back", async () => {
    const of = { merchantId: freshId("mer"), invoiceId: freshId("inv") };
    expect(await record([eventOf("invoice.paid", 1, of)], true)).toEqual([]);
    expect(await record([eventOf("invoice.paid", 1, of)])).toHaveLength(1);
  });

  it("notifies nobody of the creation of an invoice or of events without an invoice", async () => {
    const of = { merchantId: freshId("mer"), invoiceId: freshId("inv") };
    const loose = { ...eventOf("wallet.created", 1, { ...of, invoiceId: null }), sequence: null };
    expect(await record([eventOf("invoice.created", 1, of), eventOf("payment.created", 2, of), loose])).toEqual([]);
  });

  it("notifies each merchant's room about its own invoices", async () => {
    const shops = await Promise.all([freshMerchant(), freshMerchant()]);
    const invoices = await Promise.all(shops.map(invoiceOf));
    const pages = await Promise.all(invoices.map((invoiceId) => open(invoiceId)));
    await tellRooms(
      env,
      shops.map(({ merchantId }, n) => `${merchantId} ${invoices[n]}`),
    );
    expect(await Promise.all(pages.map(messagesTo))).toEqual([["changed"], ["changed"]]);
  });
});

describe("a page may connect", () => {
  it("and the response has a request id", async () => {
    const { response } = await open(await invoiceOf(await freshMerchant()));
    expect(response.status).toBe(101);
    expect(response.headers.get("x-request-id")).toMatch(/^req_/);
  });

  it("from any origin: our own, a shop's, a frame's or none", async () => {
    const invoiceId = await invoiceOf(await freshMerchant());
    for (const headers of [{}, { origin: OURS }, { origin: "https://shop.example" }, { origin: "null" }]) {
      expect((await open(invoiceId, headers)).response.status).toBe(101);
    }
  });

  it("only by a WebSocket upgrade, and only for an existing invoice", async () => {
    const invoiceId = await invoiceOf(await freshMerchant());
    expectRefusal(await send(pathOf(invoiceId)), 400, "VALIDATION_FAILED");
    expectRefusal(await send(pathOf(invoiceId), upgrade({ upgrade: "h2c" })), 400, "VALIDATION_FAILED");
    for (const unknown of [UNKNOWN, "x", "%00", "..%2F", `${invoiceId}%20`]) {
      expectRefusal(await send(pathOf(unknown), upgrade()), 404, "INVOICE_NOT_FOUND");
    }
  });

  it("within the rate limit of its IP address", async () => {
    const invoiceId = await invoiceOf(await freshMerchant());
    const ask = upgrade({ "cf-connecting-ip": "198.51.100.77" });
    const one = { RATE_LIMIT_PER_MINUTE: "1" };
    expectRefusal(await sendWith(one, pathOf(UNKNOWN), ask), 404, "INVOICE_NOT_FOUND");
    const refused = await sendWith(one, pathOf(invoiceId), ask);
    expectRefusal(refused, 429, "RATE_LIMITED");
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  });

  it("up to a maximum per invoice, and again once another page has closed; other invoices are not affected", async () => {
    const shop = await freshMerchant();
    const [crowded, quiet] = await Promise.all([invoiceOf(shop), invoiceOf(shop)]);
    const pages = await Promise.all(Array.from({ length: PAGES_PER_INVOICE }, () => open(crowded)));
    const refused = await send(pathOf(crowded), upgrade());
    expectRefusal(refused, 429, "RATE_LIMITED");
    expect(refused.headers.get("retry-after")).toBe("60");
    await open(quiet);
    pages[0]?.socket.close(1000);
    await vi.waitFor(() => open(crowded), SOON);
    await cancel(shop, crowded);
    await vi.waitFor(() => expect(pages.filter(({ heard }) => heard.length === 1)).toHaveLength(19), SOON);
  });

  it("while its merchant's room is not full", async () => {
    const shop = await freshMerchant();
    const invoiceId = await invoiceOf(shop);
    await open(invoiceId);
    await runInDurableObject(roomOf(shop), (_, state) => {
      const full = Array.from({ length: PAGES_PER_ROOM });
      vi.spyOn(state, "getWebSockets").mockImplementation((tag) => (tag === undefined ? full : []) as WebSocket[]);
    });
    expectRefusal(await send(pathOf(invoiceId), upgrade()), 429, "RATE_LIMITED");
  });
});

describe("a page that sends messages", () => {
  it("is disconnected for anything except a ping, while other pages stay open", async () => {
    const shop = await freshMerchant();
    const invoiceId = await invoiceOf(shop);
    const listening = await open(invoiceId);
    for (const word of ["PING", "", "changed", "x".repeat(100_000), new Uint8Array(1_000)]) {
      const page = await open(invoiceId);
      page.socket.send(word);
      await vi.waitFor(() => expect(page.closed).toEqual([1008]), SOON);
      expect(page.heard).toEqual([]);
    }
    expect(await messagesTo(listening)).toEqual([]);
  });
});
