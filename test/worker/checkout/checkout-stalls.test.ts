// A payer's page while the database does not answer: it shows a browser a copy of what that browser was shown before, and only as long as the copy is
// valid.
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Answer } from "../../support/access.ts";
import { freshOrder, type Order, orderOf, page } from "../../support/checkouts.ts";
import { USDT } from "../../support/wallet-bodies.ts";

/** A database in which every call fails. */
const LOST = (() => {
  const lost = async () => Promise.reject(new Error("D1_ERROR: Network connection lost."));
  const statement = new Proxy(env.DB.prepare("SELECT 1"), {
    get: (_, name, self) => (name === "bind" ? () => self : lost),
  });
  return new Proxy(env.DB, { get: (_, name) => (name === "prepare" ? () => statement : lost) });
})();

const paidOrder = () => freshOrder({ paymentMethods: [USDT] });
const cookieIn = ({ headers }: Answer) =>
  /^(?:__Secure-)?shown=([^;]*)/.exec(headers.get("set-cookie") ?? "")?.[0] ?? "";
const withCookie = (cookie: string) => ({ headers: { cookie } });
const lost = (order: { readonly id: string }, cookie: string, rest = "") =>
  page(order, rest, withCookie(cookie), { DB: LOST });
const objectOf = ({ merchantId }: Order) => env.MERCHANT_OBJECT.getByName(merchantId);
/** The text of a page, without tags. */
const wordsOf = ({ text }: Answer) => text.replaceAll(/<[^>]*>/g, "");

afterEach(() => {
  vi.useRealTimers();
});

describe("a payer's page while the database does not answer", () => {
  it("shows the same browser the amount and the address again, and when that copy was made", async () => {
    const order = await paidOrder();
    const fresh = await page(order);
    const again = await lost(order, cookieIn(fresh));
    expect(again.status).toBe(200);
    expect(wordsOf(again)).toContain(order.address);
    expect(again.text).toMatch(/<p class="stale note" data-stale="\d{13}">Nothing new has come since /);
    expect(again.headers.get("cache-control")).toBe("no-store");
    expect(again.text).not.toContain("eth_sendTransaction");
  });

  it("shows nothing to a browser that has no copy, and nothing from another invoice", async () => {
    const order = await paidOrder();
    const cookie = cookieIn(await page(order));
    expect((await lost(order, "")).status).toBe(503);
    const other = await orderOf(order.shop, { paymentMethods: [USDT] });
    const refused = await lost(other, cookie);
    expect(refused.status).toBe(503);
    expect(refused.text).not.toContain(order.address);
  });

  it("shows nothing to a payer who asks for another coin or for the choice of coins", async () => {
    const order = await paidOrder();
    const cookie = cookieIn(await page(order));
    expect((await lost(order, cookie, "?method=USDT_ETH")).status).toBe(200);
    for (const rest of ["?method=BTC_BTC", "?choose=1"]) expect((await lost(order, cookie, rest)).status).toBe(503);
  });

  it("shows nothing after a change was sent to the merchant's object, even before it commits", async () => {
    const order = await paidOrder();
    const cookie = cookieIn(await page(order));
    expect((await lost(order, cookie)).status).toBe(200);
    const change = { kind: "WALLET", target: "wal_1", columns: { is_enabled: 0 } } as const;
    await objectOf(order).keepRevocations([change], Date.now());
    expect((await lost(order, cookie)).status).toBe(503);
  });

  it("shows no copy that was read while a change was in progress", async () => {
    const order = await paidOrder();
    const change = { kind: "WALLET", target: "wal_1", columns: { is_enabled: 0 } } as const;
    await objectOf(order).keepRevocations([change], Date.now() - 60_000);
    expect((await lost(order, cookieIn(await page(order)))).status).toBe(503);
  });

  it("shows nothing after five minutes", async () => {
    const order = await paidOrder();
    const cookie = cookieIn(await page(order));
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 290_000 });
    expect((await lost(order, cookie)).status).toBe(200);
    vi.setSystemTime(Date.now() + 12_000);
    expect((await lost(order, cookie)).status).toBe(503);
  });

  it("makes its browser forget the address once nothing more is due", async () => {
    const order = await paidOrder();
    const cookie = cookieIn(await page(order));
    expect((await order.shop.post(`/invoices/${order.id}/cancel`)).status).toBe(200);
    const { headers } = await page(order, "/state", withCookie(cookie));
    expect(headers.get("set-cookie")).toBe(`shown=; Path=/pay/${order.id}; Max-Age=0; HttpOnly; SameSite=Lax`);
  });

  it("stores a copy for this page only, and does not send it with each poll or for a HEAD request", async () => {
    const order = await paidOrder();
    expect((await page(order, "", { method: "HEAD" })).headers.get("set-cookie")).toBeNull();
    const fresh = await page(order);
    expect(fresh.headers.get("set-cookie")).toMatch(
      new RegExp(`^shown=[\\w.-]+; Path=/pay/${order.id}; Max-Age=(?:300|29\\d); HttpOnly; SameSite=Lax$`),
    );
    const asked = withCookie(cookieIn(fresh));
    expect((await page(order, "/state", asked)).headers.get("set-cookie")).toBeNull();
    expect((await page(order, "", asked)).headers.get("set-cookie")).toBeNull();
  });
});
