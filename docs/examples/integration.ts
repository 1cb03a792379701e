import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import { Edgetill, verifyWebhook, WebhookVerificationError } from "edgetill";

const { BASE_URL = "http://localhost:8787", MERCHANT_ID = "", API_KEY = "" } = process.env;
const { WEBHOOK_SECRET = "", PORT = "3000" } = process.env;
const edgetill = new Edgetill({ baseUrl: BASE_URL, merchantId: MERCHANT_ID, apiKey: API_KEY });
const paidOrders = new Set<string>(); // in a shop: a column of the order, set in the same transaction as its shipping

createServer(async (request, response) => {
  try {
    const [, orderId] = /^\/pay\/(\w+)$/.exec(request.url ?? "") ?? [];
    if (orderId !== undefined) {
      const order = { name: `Order ${orderId}`, rawAmount: 49.9, externalId: orderId };
      const invoice = await edgetill.invoices.create(order, { idempotencyKey: `order-${orderId}` });
      response.writeHead(303, { location: invoice.checkoutUrl }).end();
    } else {
      const payload = await buffer(request);
      const { type, data } = await verifyWebhook({ payload, headers: request.headers, secret: WEBHOOK_SECRET });
      const order = type === "invoice.paid" || type === "invoice.overpaid" ? data.invoice.externalId : null;
      if (order !== null && !paidOrders.has(order)) console.log(`Order ${order} is paid`);
      if (order !== null) paidOrders.add(order); // events repeat, and an invoice may send both of these: ship once
      response.writeHead(204).end();
    }
  } catch (error) {
    console.error(error);
    response.writeHead(error instanceof WebhookVerificationError ? 400 : 502).end();
  }
}).listen(Number(PORT), "127.0.0.1");
