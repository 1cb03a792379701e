import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import { Edgetill, verifyWebhook, WebhookVerificationError } from "edgetill/client";

const { BASE_URL = "http://localhost:8787", MERCHANT_ID = "", API_KEY = "" } = process.env;
const { WEBHOOK_SECRET = "", PORT = "3000" } = process.env;
const edgetill = new Edgetill({ baseUrl: BASE_URL, merchantId: MERCHANT_ID, apiKey: API_KEY });
const processed = new Set<string>(); // in a shop: a table, written in one transaction with the order

createServer(async (request, response) => {
  try {
    const [, orderId] = /^\/pay\/(\w+)$/.exec(request.url ?? "") ?? [];
    if (orderId !== undefined) {
      const order = { name: `Order ${orderId}`, rawAmount: 49.9, externalId: orderId };
      const invoice = await edgetill.invoices.create(order, { idempotencyKey: `order-${orderId}` });
      response.writeHead(303, { location: invoice.checkoutUrl }).end();
    } else {
      const payload = await buffer(request);
      const event = await verifyWebhook({ payload, headers: request.headers, secret: WEBHOOK_SECRET });
      const isNew = !processed.has(event.id);
      if (isNew && event.type === "invoice.paid") console.log(`Order ${event.data.invoice.externalId} is paid`);
      processed.add(event.id);
      response.writeHead(204).end();
    }
  } catch (error) {
    console.error(error);
    response.writeHead(error instanceof WebhookVerificationError ? 400 : 502).end();
  }
}).listen(Number(PORT), "127.0.0.1");
