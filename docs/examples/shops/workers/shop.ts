// A small shop that is paid with Edgetill, on Cloudflare Workers and D1. Its guide: docs/guides/shops.md
import { Edgetill, EdgetillError, type Invoice, verifyWebhook, WebhookVerificationError } from "edgetill";
import { findOrder, newOrder, type Order, PRODUCT, record, STATES, storeInvoice } from "./orders.ts";

interface Env {
  readonly DB: D1Database;
  readonly EDGETILL_URL: string;
  readonly EDGETILL_MERCHANT: string;
  readonly EDGETILL_KEY: string;
  readonly WEBHOOK_SECRET: string;
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const { pathname } = new URL(request.url);
    const [, orderId = ""] = /^\/orders\/(\w+)$/.exec(pathname) ?? [];
    if (request.method === "GET" && pathname === "/") return shopPage();
    if (request.method === "POST" && pathname === "/orders") return startPayment(request, env);
    if (request.method === "POST" && pathname === "/webhooks") return receive(request, env);
    const order = request.method === "GET" && orderId !== "" ? await findOrder(env.DB, orderId) : null;
    if (order === null) return page("<h1>Not found</h1>", 404);
    const isForProgram = request.headers.get("accept")?.includes("application/json");
    return isForProgram ? Response.json({ id: order.id, status: order.status }) : orderPage(order, 200);
  },
} satisfies ExportedHandler<Env>;

function shopPage(): Response {
  const price = `${Number(PRODUCT.amount).toFixed(2)} ${PRODUCT.currency}`;
  const button = '<form method="post" action="/orders"><button>Pay with crypto</button></form>';
  return page(`<h1>${PRODUCT.name}</h1><p>${price}</p>${button}`, 200);
}

async function startPayment(request: Request, env: Env): Promise<Response> {
  // The "Try again" button sends the order's id.
  const again = new URLSearchParams(await request.text()).get("order");
  const order = (again === null ? null : await findOrder(env.DB, again)) ?? (await newOrder(env.DB));
  try {
    const { checkoutUrl } = await invoiceOf(order, new URL(request.url).origin, env);
    return Response.redirect(checkoutUrl, 303);
  } catch (error) {
    console.error(error);
    return orderPage(order, 503);
  }
}

async function receive(request: Request, env: Env): Promise<Response> {
  if (Number(request.headers.get("content-length")) > 65_536) return new Response(null, { status: 413 }); // an event is smaller than 20 KB
  const payload = new Uint8Array(await request.arrayBuffer()); // the raw bytes, because the signature is over them
  // During a rotation, WEBHOOK_SECRET has both the old and the new secret, separated by a space.
  const secrets = env.WEBHOOK_SECRET.split(" ");
  try {
    await record(env.DB, await verifyWebhook({ payload, headers: request.headers, secrets }));
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error; // 500: Edgetill sends the event again
    return new Response(null, { status: 400 });
  }
  return new Response(null, { status: 204 }); // 2xx means that the event need not be sent again
}

/** The order's only invoice, however often this is called: the same key and body give the same answer. Throws if there is no usable answer. */
async function invoiceOf({ id, amount, currency }: Order, shopUrl: string, env: Env): Promise<Invoice> {
  const { EDGETILL_URL: baseUrl, EDGETILL_MERCHANT: merchantId, EDGETILL_KEY: apiKey } = env;
  // A customer is waiting, so an honest "try again" is better than many silent attempts.
  const edgetill = new Edgetill({ baseUrl, merchantId, apiKey, timeoutMs: 15_000, maxRetries: 1 });
  const body = {
    name: `${PRODUCT.name}, order ${id}`,
    rawAmount: Number(amount),
    currency,
    externalId: id,
    redirectUrl: `${shopUrl}/orders/${id}`,
  };
  const invoice = await edgetill.invoices.create(body, { idempotencyKey: `order-${id}` }).catch((error) => {
    // Edgetill forgets the key after 24 hours, but never the order's number.
    if (!(error instanceof EdgetillError) || error.code !== "EXTERNAL_ID_EXISTS" || !error.facts.invoiceId) throw error;
    return edgetill.invoices.get(error.facts.invoiceId);
  });
  await storeInvoice(env.DB, id, invoice);
  return invoice;
}

// All text in these pages comes from the shop or from Edgetill. Text from customers would have to be escaped.
function orderPage({ id, status, checkout }: Order, httpStatus: number): Response {
  if (checkout !== null) {
    const link = `<p><a href="${checkout}">To the payment</a></p>`;
    return page(`<h1>${STATES[status]}</h1><p>Order ${id}</p>${link}`, httpStatus);
  }
  const state = "Not started: our payment service could not be reached";
  const retry = `<input type="hidden" name="order" value="${id}"><button>Try again</button>`;
  return page(`<h1>${state}</h1><p>Order ${id}</p><form method="post" action="/orders">${retry}</form>`, httpStatus);
}

function page(content: string, status: number): Response {
  const head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Coffee</title>';
  const headers = { "content-type": "text/html; charset=utf-8" };
  return new Response(`<!doctype html><html lang="en">${head}${content}</html>`, { status, headers });
}
