// A small shop that is paid with Edgetill, on Hono and Node. Its guide: docs/guides/shops.md
import { serve } from "@hono/node-server";
import { Edgetill, EdgetillError, type Invoice, verifyWebhook, WebhookVerificationError } from "edgetill";
import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { html } from "hono/html";
import { findOrder, newOrder, type Order, PRODUCT, record, STATES, storeInvoice } from "./orders.ts";

const { EDGETILL_URL = "http://localhost:8787", EDGETILL_MERCHANT = "", EDGETILL_KEY = "" } = process.env;
const { WEBHOOK_SECRET = "", PORT = "3000", SHOP_URL = `http://127.0.0.1:${PORT}` } = process.env;
if (!(EDGETILL_KEY && EDGETILL_MERCHANT && WEBHOOK_SECRET)) {
  console.error(
    "Set EDGETILL_KEY, EDGETILL_MERCHANT and WEBHOOK_SECRET: docs/guides/shops.md says where they come from.",
  );
  process.exit(1);
}
const edgetill = new Edgetill({
  baseUrl: EDGETILL_URL,
  merchantId: EDGETILL_MERCHANT,
  apiKey: EDGETILL_KEY,
  // A customer is waiting, so an honest "try again" is better than many silent attempts.
  timeoutMs: 15_000,
  maxRetries: 1,
});
const app = new Hono();

app.get("/", (c) => {
  const price = `${Number(PRODUCT.amount).toFixed(2)} ${PRODUCT.currency}`;
  const button = html`<form method="post" action="/orders"><button>Pay with crypto</button></form>`;
  return c.html(page(html`<h1>${PRODUCT.name}</h1><p>${price}</p>${button}`));
});

app.post("/orders", async (c) => {
  const { order: again } = await c.req.parseBody(); // the "Try again" button sends the order's id
  const order = (typeof again === "string" ? findOrder(again) : undefined) ?? newOrder();
  try {
    const { checkoutUrl } = await invoiceOf(order);
    return c.redirect(checkoutUrl, 303);
  } catch (error) {
    console.error(error);
    return orderPage(c, order, 503);
  }
});

app.get("/orders/:id", (c) => {
  const order = findOrder(c.req.param("id"));
  if (order === undefined) return c.notFound();
  const { id, status } = order;
  if (c.req.header("accept")?.includes("application/json")) return c.json({ id, status });
  return orderPage(c, order, 200);
});

app.post("/webhooks", bodyLimit({ maxSize: 65_536 }), async (c) => {
  const payload = new Uint8Array(await c.req.arrayBuffer()); // the raw bytes, because the signature is over them
  // During a rotation, WEBHOOK_SECRET has both the old and the new secret, separated by a space.
  record(await verifyWebhook({ payload, headers: c.req.raw.headers, secrets: WEBHOOK_SECRET.split(" ") }));
  return c.body(null, 204); // 2xx means that the event need not be sent again
});

app.onError((error, c) => {
  console.error(error);
  return c.text("refused", error instanceof WebhookVerificationError ? 400 : 500); // after a 500, Edgetill sends the event again
});

/** The order's only invoice, however often this is called: the same key and body give the same answer. Throws if there is no usable answer. */
async function invoiceOf({ id, amount, currency }: Order): Promise<Invoice> {
  const body = {
    name: `${PRODUCT.name}, order ${id}`,
    rawAmount: Number(amount),
    currency,
    externalId: id,
    redirectUrl: `${SHOP_URL}/orders/${id}`,
  };
  const invoice = await edgetill.invoices.create(body, { idempotencyKey: `order-${id}` }).catch((error) => {
    // Edgetill forgets the key after 24 hours, but never the order's number.
    if (!(error instanceof EdgetillError) || error.code !== "EXTERNAL_ID_EXISTS" || !error.facts.invoiceId) throw error;
    return edgetill.invoices.get(error.facts.invoiceId);
  });
  storeInvoice(id, invoice);
  return invoice;
}

function orderPage(c: Context, { id, status, checkout }: Order, httpStatus: 200 | 503) {
  if (checkout !== null) {
    const link = html`<p><a href="${checkout}">To the payment</a></p>`;
    return c.html(page(html`<h1>${STATES[status]}</h1><p>Order ${id}</p>${link}`), httpStatus);
  }
  const retry = html`<input type="hidden" name="order" value="${id}"><button>Try again</button>`;
  const form = html`<form method="post" action="/orders">${retry}</form>`;
  const state = "Not started: our payment service could not be reached";
  return c.html(page(html`<h1>${state}</h1><p>Order ${id}</p>${form}`), httpStatus);
}

function page(content: ReturnType<typeof html>) {
  const head = html`<meta name="viewport" content="width=device-width"><title>Coffee</title>`;
  return html`<!doctype html><html lang="en">${head}${content}</html>`;
}

serve({ fetch: app.fetch, port: Number(PORT), hostname: "127.0.0.1" }, () => {
  console.log(`The shop is at ${SHOP_URL}. Next: open it and click Pay with crypto.`);
});
