// The shops of the guides, each started as its chapter says: a customer pays on a chain, and everything that can go wrong goes wrong.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { SEEN_WITHIN_MS, until } from "../detection/harness.ts";
import { hiddenIn, type Led, openPage, type Page, pressButton, textOf } from "./customer.ts";
import { installShop, READY_WITHIN_MS } from "./install-shop.ts";
import { tellPluginStories } from "./plugin-stories.ts";
import { isTested, nameOf, SHOPS } from "./shops.ts";
import { openStand, type Purchase, type Stand } from "./stand.ts";
import { openWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world?.close());

const REFUSED = [400, 401];
const ACCEPTED = [200, 202, 204];

interface Delivery {
  readonly id: string;
  readonly eventId: string;
  readonly status: string;
  readonly attempts: number;
}

describe.each(SHOPS.map((shop) => ({ shop, name: nameOf(shop) })))("the shop in $name", ({ shop }) => {
  const test = isTested(shop) ? it : it.skip;
  let stand: Stand;
  let missing: string | undefined;

  beforeAll(async () => {
    if (!isTested(shop)) return;
    missing = await installShop(shop);
    if (missing === undefined) stand = await openStand(world, shop);
  }, READY_WITHIN_MS);
  beforeEach(({ skip }) => skip(missing !== undefined, missing));
  afterAll(() => stand?.close());

  /** Pays at the checkout and waits until the shop shows the payment. */
  async function payOnChain({ checkoutUrl, orderId }: Purchase): Promise<void> {
    await world.pay(checkoutUrl);
    await world.mineUntil(
      () => stand.stateOf(orderId),
      (state) => isIn(state, "PAID"),
    );
  }

  test("gets an order paid on a chain, from the button through the checkout to Paid", async () => {
    const purchase = await stand.buy();
    const { orderId, checkoutUrl, invoiceId } = purchase;
    const invoice = await world.edgetill.invoice(invoiceId);
    expect(invoice).toMatchObject({ rawAmount: "12.500000", currency: "USD", status: "AWAITING_PAYMENT" });
    expect((await openPage(checkoutUrl)).status).toBe(200);
    // The page of the shop to which the checkout returns.
    const back = await openPage(invoice.redirectUrl ?? "");
    expect(back.url).toBe((await stand.orderPage(orderId)).url);
    expect(textOf(back)).toContain("Waiting for payment");
    expect(await stand.stateOf(orderId)).toEqual({ id: orderId, status: "AWAITING_PAYMENT" });

    await payOnChain(purchase);
    expect(textOf(await stand.orderPage(orderId))).toContain("Paid");
    expect(await stand.timesPaid(orderId)).toBe(1);

    await sendAgain(stand, invoiceId);
    expect(await stand.stateOf(orderId)).toEqual({ id: orderId, status: "PAID" });
    expect(await stand.timesPaid(orderId)).toBe(1);
  });

  test("refuses anything that Edgetill has not signed, and changes nothing", async () => {
    const purchase = await stand.buy();
    const event = await stand.eventOf(purchase, { status: "PAID", sequence: 100 });
    const other = `whsec_${Buffer.alloc(32, 1).toString("base64")}`;
    expect(REFUSED).toContain(await stand.deliver(event, { secret: other }));
    expect(REFUSED).toContain(await stand.deliver(event, { ageSeconds: 400 }));
    expect(REFUSED).toContain(await stand.deliver(event, { ageSeconds: -400 }));
    expect(REFUSED).toContain(await stand.post(JSON.stringify(event)));
    // The signed content differs from what arrived.
    const small = await stand.eventOf(purchase, { status: "EXPIRED", sequence: 101 });
    expect(REFUSED).toContain(await stand.deliver(small, { sent: JSON.stringify({ ...event, id: small.id }) }));
    expect(await stand.stateOf(purchase.orderId)).toEqual({ id: purchase.orderId, status: "AWAITING_PAYMENT" });
    expect(await stand.timesPaid(purchase.orderId)).toBe(0);
    // With the right signature the event is accepted.
    expect(ACCEPTED).toContain(await stand.deliver(event));
    expect(await stand.stateOf(purchase.orderId)).toEqual({ id: purchase.orderId, status: "PAID" });
  });

  test("acts once for each event, however often it comes, even concurrently", async () => {
    const purchase = await stand.buy();
    const event = await stand.eventOf(purchase, { status: "PAID", sequence: 100 });
    const statuses = await Promise.all([1, 2, 3].map(() => stand.deliver(event)));
    statuses.push(await stand.deliver(event));
    // A delivery that arrives while another is being stored may be refused with a request to retry.
    expect(ACCEPTED).toContain(statuses.at(-1));
    expect(await stand.stateOf(purchase.orderId)).toEqual({ id: purchase.orderId, status: "PAID" });
    expect(await stand.timesPaid(purchase.orderId)).toBe(1);
  });

  test("follows the newest event in any order of arrival, and ships once", async () => {
    const purchase = await stand.buy();
    const { orderId } = purchase;
    const steps = [
      [102, "EXPIRED", "EXPIRED", "Expired"],
      [101, "PENDING_CONFIRMATION", "EXPIRED", "Expired"],
      [100, "PAID", "EXPIRED", "Expired"],
      [103, "UNDERPAID", "UNDERPAID", "Not enough was paid"],
      [105, "OVERPAID", "OVERPAID", "Paid"],
      [104, "PENDING_CONFIRMATION", "OVERPAID", "Paid"],
      [106, "PENDING_CONFIRMATION", "PENDING_CONFIRMATION", "Payment seen"],
      [107, "PAID", "PAID", "Paid"],
    ] as const;
    for (const [sequence, status, expected, text] of steps) {
      expect(ACCEPTED).toContain(await stand.deliver(await stand.eventOf(purchase, { status, sequence })));
      expect(await stand.stateOf(orderId)).toEqual({ id: orderId, status: expected });
      expect(textOf(await stand.orderPage(orderId))).toContain(text);
      if (sequence === 103) expect(await stand.timesPaid(orderId)).toBe(0);
    }
    expect(await stand.timesPaid(orderId)).toBe(1);
  });

  test.each([
    ["an event for a different invoice", { id: "inv_01M7YZMHG000GP4KNXK4JTRR1G" }],
    ["an event with a different amount", { rawAmount: "0.010000" }],
    ["an event with a different currency", { currency: "JPY" }],
  ])("does not treat an order as paid by %s", async (_, change) => {
    const purchase = await stand.buy();
    const { orderId } = purchase;
    const event = await stand.eventOf(purchase, { ...change, status: "PAID", sequence: 100 });
    await stand.deliver(event);
    expect(await stand.stateOf(orderId)).toEqual({ id: orderId, status: "AWAITING_PAYMENT" });
    expect(await stand.timesPaid(orderId)).toBe(0);
  });

  test("accepts events about invoices that do not belong to its orders", async () => {
    const { id } = await world.edgetill.createInvoice({ name: "Of another program" });
    const purchase = { orderId: "", invoiceId: id, checkoutUrl: "" };
    for (const externalId of [null, "0123456789abcdef"]) {
      const event = await stand.eventOf(purchase, { externalId, status: "PAID", sequence: 100 });
      expect(ACCEPTED).toContain(await stand.deliver(event));
    }
  });

  test("keeps an order whose request for an invoice got no response, and creates no second invoice when the customer tries again", async () => {
    const { gate } = stand;
    const before = await invoiceCount(world);
    const asked = gate.keys.length;
    gate.lose("ANSWERS");
    const led = await pressButton(await stand.frontPage()).finally(gate.pass);
    const page = pageOf(led);
    const again = await pressButton(page);
    if (!("location" in again)) throw new Error(`trying again led to ${again.page.status} ${again.page.html}`);
    const purchase = await stand.purchaseAt(again.location);
    expect(await stand.stateOf(purchase.orderId)).toEqual({ id: purchase.orderId, status: "AWAITING_PAYMENT" });
    expect(await invoiceCount(world)).toBe(before + 1);
    const keys = gate.keys.slice(asked);
    expect(keys[0]).toEqual(expect.any(String));
    expect(new Set(keys).size).toBe(1);
    await payOnChain(purchase);
    expect(await stand.timesPaid(purchase.orderId)).toBe(1);
  });

  test("keeps an order while Edgetill is unreachable, and finds its invoice after the idempotency key has expired", async () => {
    const { gate } = stand;
    gate.lose("REQUESTS");
    const page = pageOf(await pressButton(await stand.frontPage()).finally(gate.pass));
    const orderId = hiddenIn(page);
    expect(await stand.stateOf(orderId)).toEqual({ id: orderId, status: "AWAITING_PAYMENT" });
    // As if the shop had created it more than a day ago, so that its key has expired.
    const invoice = await world.edgetill.createInvoice({ name: "Coffee", rawAmount: 12.5, externalId: orderId });
    expect(await pressButton(page)).toEqual({ location: invoice.checkoutUrl });
  });

  test("still has its orders after a crash, and learns of a payment it missed", async () => {
    const [paid, waiting] = [await stand.buy(), await stand.buy()];
    await stand.deliver(await stand.eventOf(paid, { status: "PAID", sequence: 100 }));
    await stand.kill();
    await world.pay(waiting.checkoutUrl);
    await world.mineUntil(
      () => world.edgetill.invoice(waiting.invoiceId),
      ({ status }) => status === "PAID",
    );
    await stand.start();
    expect(await stand.stateOf(paid.orderId)).toEqual({ id: paid.orderId, status: "PAID" });
    await until(
      () => stand.stateOf(waiting.orderId),
      (state) => isIn(state, "PAID"),
      SEEN_WITHIN_MS,
    );
    expect(ACCEPTED).toContain(await stand.deliver(await stand.eventOf(paid, { status: "PAID", sequence: 101 })));
    expect([await stand.timesPaid(paid.orderId), await stand.timesPaid(waiting.orderId)]).toEqual([1, 1]);
  });
});

tellPluginStories(() => world);

function isIn(state: unknown, status: string): boolean {
  return typeof state === "object" && state !== null && "status" in state && state.status === status;
}

/** The page shown to a customer who did not reach the checkout. */
function pageOf(led: Led): Page {
  if ("location" in led) throw new Error(`the customer arrived at ${led.location}`);
  return led.page;
}

async function invoiceCount({ edgetill }: World): Promise<number> {
  const { pagination } = await edgetill.call<{ pagination: { total: number } }>("GET", "/invoices?page=1&limit=1");
  return pagination.total;
}

/** Makes Edgetill send the event `invoice.paid` once more, and waits until the shop accepts it again. */
async function sendAgain({ webhookId }: Stand, invoiceId: string): Promise<void> {
  const { call } = world.edgetill;
  const events = await call<{ data: readonly { id: string }[] }>(
    "GET",
    `/events?invoiceId=${invoiceId}&type=invoice.paid`,
  );
  const { data } = await call<{ data: readonly Delivery[] }>("GET", `/webhooks/${webhookId}/deliveries?limit=100`);
  const { id } = data.find(({ eventId }) => eventId === events.data[0]?.id) ?? {};
  const path = `/webhooks/${webhookId}/deliveries/${id}`;
  const untilAccepted = (after: number) =>
    until(
      () => call<Delivery>("GET", path),
      ({ attempts, status }) => attempts > after && status === "SUCCEEDED",
      SEEN_WITHIN_MS,
    );
  const { attempts } = await untilAccepted(0);
  await call("POST", `${path}/redeliver`);
  await untilAccepted(attempts);
}
