// A small shop that is paid with Edgetill, on Express. Its guide: docs/guides/shops.md
import { Edgetill, EdgetillError, type Invoice, verifyWebhook, WebhookVerificationError } from "edgetill";
import express, { type ErrorRequestHandler, type Response } from "express";
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
const app = express();

app.get("/", (_, response) => {
  const price = `${Number(PRODUCT.amount).toFixed(2)} ${PRODUCT.currency}`;
  const button = '<form method="post" action="/orders"><button>Pay with crypto</button></form>';
  response.send(page(`<h1>${PRODUCT.name}</h1><p>${price}</p>${button}`));
});

app.post("/orders", express.urlencoded(), async (request, response) => {
  const again: unknown = request.body?.order; // the "Try again" button sends the order's id
  const order = (typeof again === "string" ? findOrder(again) : undefined) ?? newOrder();
  try {
    const { checkoutUrl } = await invoiceOf(order);
    response.redirect(303, checkoutUrl);
  } catch (error) {
    console.error(error);
    sendOrder(response.status(503), order);
  }
});

app.get("/orders/:id", (request, response, next) => {
  const order = findOrder(request.params.id);
  if (order === undefined) next();
  else if (request.get("accept")?.includes("application/json")) response.json({ id: order.id, status: order.status });
  else sendOrder(response, order);
});

// Not express.json(), because the signature is over the raw bytes.
app.post("/webhooks", express.raw({ type: () => true, limit: "64kb" }), async (request, response) => {
  const payload: Uint8Array = request.body ?? new Uint8Array();
  // During a rotation, WEBHOOK_SECRET has both the old and the new secret, separated by a space.
  record(await verifyWebhook({ payload, headers: request.headers, secrets: WEBHOOK_SECRET.split(" ") }));
  response.sendStatus(204); // 2xx means that the event need not be sent again
});

const onError: ErrorRequestHandler = (error, _request, response, _next) => {
  console.error(error);
  // Express sets the status if it refused the request itself, such as for a body that is too long. After a 500, Edgetill sends the event again.
  response.sendStatus(error instanceof WebhookVerificationError ? 400 : (error.status ?? 500));
};
app.use(onError);

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

// All text in these pages comes from the shop or from Edgetill. Text from customers would have to be escaped.
function sendOrder(response: Response, { id, status, checkout }: Order): void {
  const retry = `<input type="hidden" name="order" value="${id}"><button>Try again</button>`;
  const [state, way] =
    checkout === null
      ? [
          "Not started: our payment service could not be reached",
          `<form method="post" action="/orders">${retry}</form>`,
        ]
      : [STATES[status], `<p><a href="${checkout}">To the payment</a></p>`];
  response.send(page(`<h1>${state}</h1><p>Order ${id}</p>${way}`));
}

function page(content: string): string {
  const head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Coffee</title>';
  return `<!doctype html><html lang="en">${head}${content}</html>`;
}

app.listen(Number(PORT), "127.0.0.1", (error?: Error) => {
  if (error !== undefined) throw error;
  console.log(`The shop is at ${SHOP_URL}. Next: open it and click Pay with crypto.`);
});
