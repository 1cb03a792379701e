// How many open pages one caller may have in a merchant's room, so that the room has space for all customers. Uses real sockets of the real Worker.
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { afterEach, describe, expect, it, vi } from "vitest";
import { parseId } from "../../../src/lib/ids.ts";
import { LIMITS } from "../../../src/lib/limits.ts";
import { INVOICE_STATUSES } from "../../../src/platform/column-values.ts";
import { invoices } from "../../../src/platform/db/schema/invoices.ts";
import { expectRefusal, requestOf, send } from "../../support/access.ts";
import { freshMerchant, type TestMerchant, testDb } from "../../support/worker-merchant.ts";

const MOST = LIMITS.pagesPerIpAndMerchant;
const SOON = { timeout: 60_000, interval: 5 };
const CROWD = "203.0.113.4";

const sockets: WebSocket[] = [];
afterEach(() => {
  vi.restoreAllMocks();
  for (const socket of sockets.splice(0)) socket.close();
});

const upgrade = (ip: string) => ({ headers: { upgrade: "websocket", "cf-connecting-ip": ip } });

/** Connects a page; returns the status, which is 101 or that of the refusal. */
async function open(invoiceId: string, ip: string): Promise<number> {
  const { webSocket, status } = await exports.default.fetch(requestOf(`/pay/${invoiceId}/live`, upgrade(ip)));
  if (webSocket === null) return status;
  webSocket.accept();
  sockets.push(webSocket);
  return status;
}

async function invoiceOf(shop: TestMerchant): Promise<string> {
  const made = await shop.post("/invoices", { name: "Order", rawAmount: 25 });
  expect(made.status).toBe(201);
  return String(made.body.id);
}

/** A merchant whose room has as many pages from the address `CROWD` as it admits, and another invoice of the merchant. */
async function crowdedShop() {
  const shop = await freshMerchant();
  for (let left = MOST; left > 0; left -= 20) {
    const invoiceId = await invoiceOf(shop);
    for (let n = 0; n < Math.min(20, left); n++) expect(await open(invoiceId, CROWD)).toBe(101);
  }
  return { shop, invoiceId: await invoiceOf(shop) };
}
const roomOf = ({ merchantId }: TestMerchant) => env.CHECKOUT_ROOM.getByName(merchantId);

describe("pages from one IP address at one merchant", () => {
  it("may connect up to a limit across all invoices; other addresses and other merchants are not affected", async () => {
    const { invoiceId } = await crowdedShop();
    const refused = await send(`/pay/${invoiceId}/live`, upgrade(CROWD));
    expectRefusal(refused, 429, "RATE_LIMITED");
    expect(refused.headers.get("retry-after")).toBe("60");
    expect(await open(invoiceId, "203.0.113.5")).toBe(101);
    expect(await open(await invoiceOf(await freshMerchant()), CROWD)).toBe(101);
  });

  it("are counted even after the room was evicted, until they close", async () => {
    const { shop, invoiceId } = await crowdedShop();
    await evictDurableObject(roomOf(shop));
    expect(await open(invoiceId, CROWD)).toBe(429);
    sockets[0]?.close(1000);
    await vi.waitFor(async () => expect(await open(invoiceId, CROWD)).toBe(101), SOON);
    expect(await open(invoiceId, CROWD)).toBe(429);
  });

  it("are counted by IPv6 /64, and four times as many are allowed for a /48", async () => {
    const shop = await freshMerchant();
    const invoiceId = await invoiceOf(shop);
    const tagged = async (counts: Readonly<Record<string, number>>) => {
      vi.restoreAllMocks();
      await runInDurableObject(roomOf(shop), (_, state) => {
        const of = (tag = "") => Array.from({ length: counts[tag] ?? 0 });
        vi.spyOn(state, "getWebSockets").mockImplementation((tag) => of(tag) as WebSocket[]);
      });
    };
    expect(await open(invoiceId, "2001:db8:1:2::3")).toBe(101);
    const tags = await runInDurableObject(roomOf(shop), (_, state) =>
      state.getWebSockets().flatMap((socket) => state.getTags(socket)),
    );
    const [, network = "", site = "", ...more] = tags;
    expect([network.endsWith("2001:db8:1:2"), site.endsWith("2001:db8:1/48"), more]).toEqual([true, true, []]);
    const rows = [
      [{ [network]: MOST - 1, [site]: 4 * MOST - 1 }, 101],
      [{ [network]: MOST }, 429],
      [{ [site]: 4 * MOST }, 429],
    ] as const;
    for (const [counts, status] of rows) {
      await tagged(counts);
      expect(await open(invoiceId, "2001:db8:1:2::4")).toBe(status);
    }
  });

  it("are not counted if the address is unknown", async () => {
    const shop = await freshMerchant();
    const invoiceId = await invoiceOf(shop);
    const { webSocket } = await exports.default.fetch(
      requestOf(`/pay/${invoiceId}/live`, { headers: { upgrade: "websocket" } }),
    );
    expect(webSocket).not.toBeNull();
    webSocket?.accept();
    if (webSocket !== null) sockets.push(webSocket);
    const tags = await runInDurableObject(roomOf(shop), (_, state) =>
      state.getWebSockets().flatMap((socket) => state.getTags(socket)),
    );
    expect(tags).toEqual([invoiceId]);
  });
});

describe("a page of an invoice with the status", () => {
  const ENDED: readonly string[] = ["PAID", "OVERPAID", "CANCELLED"];

  it.each(INVOICE_STATUSES)("%s may connect only if the invoice can still change", async (status) => {
    const invoiceId = await invoiceOf(await freshMerchant());
    const id = parseId("inv", invoiceId);
    if (id === undefined) throw new Error("no id");
    await testDb.update(invoices).set({ status }).where(eq(invoices.id, id));
    if (!ENDED.includes(status)) expect(await open(invoiceId, CROWD)).toBe(101);
    else expectRefusal(await send(`/pay/${invoiceId}/live`, upgrade(CROWD)), 422, "INVOICE_ENDED");
  });
});
