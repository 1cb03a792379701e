// The integration in docs/examples, run unchanged: a shop that sends a customer to pay, and is notified of the payment once.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { Edgetill } from "../../client/edgetill.ts";
import { findFreePort } from "../../scripts/free-port.ts";
import { service, unique } from "./client.ts";

const EXAMPLE = "docs/examples/integration.ts";
const edgetill = new Edgetill({ baseUrl: service.baseUrl, apiKey: service.secretKey, merchantId: service.merchantId });

let shop: ChildProcess;
let origin: string;
let webhook: { readonly id: string; readonly secret: string };
let printed = "";

beforeAll(async () => {
  const port = await findFreePort();
  origin = `http://127.0.0.1:${port}`;
  webhook = await edgetill.webhooks.create({ url: `${origin}/webhooks`, events: ["invoice.*"] });
  shop = spawn(process.execPath, ["--conditions=edgetill-source", EXAMPLE], {
    env: {
      ...process.env,
      BASE_URL: service.baseUrl,
      MERCHANT_ID: service.merchantId,
      API_KEY: service.secretKey,
      WEBHOOK_SECRET: webhook.secret,
      PORT: String(port),
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  for (const stream of [shop.stdout, shop.stderr]) stream?.on("data", (text) => (printed += text));
  await vi.waitFor(() => fetch(origin), WITHIN);
});

afterAll(async () => {
  await edgetill.webhooks.delete(webhook.id);
  const ended = once(shop, "exit");
  shop.kill();
  await ended;
});

const WITHIN = { timeout: 60_000, interval: 50 };

/** How often the shop printed that an order is paid. */
const timesPaid = (order: string) => printed.split("\n").filter((line) => line === `Order ${order} is paid`).length;

async function pay(order: string): Promise<{ readonly status: number; readonly location: string | null }> {
  const { status, headers } = await fetch(`${origin}/pay/${order}`, { redirect: "manual" });
  return { status, location: headers.get("location") };
}

const orderId = () => unique("o").replace(/\W/g, "");

function deliver(event: object, secret = webhook.secret, seconds = Math.floor(Date.now() / 1_000)) {
  const body = JSON.stringify(event);
  const id = "evt_1";
  const signature = new Webhook(secret).sign(id, new Date(seconds * 1_000), body);
  const headers = { "webhook-id": id, "webhook-timestamp": String(seconds), "webhook-signature": signature };
  return fetch(`${origin}/webhooks`, { method: "POST", body, headers });
}

test("an order always leads its customer to the same checkout", async () => {
  const order = orderId();
  const first = await pay(order);
  expect(first).toEqual({ status: 303, location: expect.stringMatching(/\/pay\/inv_\w+$/) });
  expect(await pay(order)).toEqual(first);
  const { data } = await edgetill.invoices.list({ externalId: order });
  expect(data).toMatchObject([{ checkoutUrl: first.location, rawAmount: "49.900000", name: `Order ${order}` }]);
});

test("a payment marks its order paid once, however often the event is delivered", async () => {
  const order = orderId();
  const event = { id: `evt_${order}`, type: "invoice.paid", data: { invoice: { externalId: order } } };
  for (let time = 0; time < 3; time += 1) expect((await deliver(event)).status).toBe(204);
  await expect.poll(() => timesPaid(order), WITHIN).toBe(1);
  expect((await deliver({ ...event, id: `${event.id}2`, type: "invoice.expired" })).status).toBe(204);
  expect(timesPaid(order)).toBe(1);
});

test.each([
  ["is overpaid", ["invoice.overpaid", "payment.overpaid"]],
  ["is paid, and then overpaid by a second payment", ["invoice.paid", "payment.paid", "invoice.overpaid"]],
  [
    "is overpaid, and then paid because one payment was reversed",
    ["invoice.overpaid", "invoice.reversed", "invoice.paid"],
  ],
])("an order that is %s is shipped once", async (_, types) => {
  const order = orderId();
  const events = types.map((type, n) => ({ id: `evt_${order}${n}`, type, data: { invoice: { externalId: order } } }));
  for (const event of [...events, ...events]) expect((await deliver(event)).status).toBe(204);
  await expect.poll(() => timesPaid(order), WITHIN).toBe(1);
});

test.each(["partially_paid", "pending_confirmation", "underpaid", "expired", "cancelled", "payment_late", "updated"])(
  "an order whose invoice sends only invoice.%s is not shipped",
  async (name) => {
    const order = orderId();
    const event = { id: `evt_${order}`, type: `invoice.${name}`, data: { invoice: { externalId: order } } };
    expect((await deliver(event)).status).toBe(204);
    const later = orderId();
    const paid = { id: `evt_${later}`, type: "invoice.paid", data: { invoice: { externalId: later } } };
    expect((await deliver(paid)).status).toBe(204);
    await expect.poll(() => timesPaid(later), WITHIN).toBe(1);
    expect(timesPaid(order)).toBe(0);
  },
);

test("an unsigned, wrongly signed or too old request is refused and changes nothing", async () => {
  const order = orderId();
  const event = { id: `evt_${order}`, type: "invoice.paid", data: { invoice: { externalId: order } } };
  const other = `whsec_${Buffer.alloc(32, 1).toString("base64")}`;
  expect((await deliver(event, other)).status).toBe(400);
  expect((await deliver(event, webhook.secret, Math.floor(Date.now() / 1_000) - 400)).status).toBe(400);
  expect((await fetch(`${origin}/webhooks`, { method: "POST", body: JSON.stringify(event) })).status).toBe(400);
  expect(timesPaid(order)).toBe(0);
});

test("a refusal by the service is written to the shop's log, and the customer gets a 502", async () => {
  const externalId = orderId();
  await edgetill.invoices.create({ name: "Made elsewhere", rawAmount: 1, externalId });
  expect((await pay(externalId)).status).toBe(502);
  await expect.poll(() => printed, WITHIN).toContain("EXTERNAL_ID_EXISTS");
  expect(printed).not.toContain(service.secretKey);
});

test("an accepted invoice marks its order paid once, even if the service delivers the event again", async () => {
  const order = orderId();
  await pay(order);
  const [invoice] = (await edgetill.invoices.list({ externalId: order })).data;
  await edgetill.invoices.resolve(invoice?.id ?? "", { action: "ACCEPT", reason: "paid by hand" });
  await expect.poll(() => timesPaid(order), WITHIN).toBe(1);

  const [event] = (await edgetill.events.list({ invoiceId: invoice?.id, type: "invoice.paid" })).data;
  const find = async () => {
    for await (const delivery of edgetill.webhooks.deliveries(webhook.id)) {
      if (delivery.eventId === event?.id) return edgetill.webhooks.getDelivery(webhook.id, delivery.id);
    }
    return undefined;
  };
  await expect.poll(async () => (await find())?.status, WITHIN).toBe("SUCCEEDED");
  const first = await find();
  await edgetill.webhooks.redeliver(webhook.id, first?.id ?? "");
  await expect.poll(async () => (await find())?.attempts, WITHIN).toBe((first?.attempts ?? 0) + 1);
  expect((await find())?.attemptLog.map(({ statusCode }) => statusCode)).toEqual([204, 204]);
  expect(timesPaid(order)).toBe(1);
});
