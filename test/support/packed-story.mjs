// What a shop does with the packed client, as plain JavaScript for every runtime. Returns the results for a test to compare.
import {
  Edgetill,
  EdgetillConnectionError,
  EdgetillError,
  EdgetillPublic,
  verifyReturn,
  verifyWebhook,
  WebhookVerificationError,
} from "edgetill";
import { FakeEdgetill } from "edgetill/testing";

/** The error with which a promise rejects. */
const failure = (promise) =>
  promise.then(
    () => undefined,
    (error) => error,
  );
const codeOf = (error) => (error instanceof EdgetillError ? `${error.status} ${error.code}` : String(error));

/** Makes the calls of a server with a secret key. `name` is unique to its orders; `delivery` is a webhook as received. */
export async function serverStory({ baseUrl, merchantId, secretKey, name, delivery, closed }) {
  const edgetill = new Edgetill({ baseUrl, merchantId, apiKey: secretKey });
  const order = { name, rawAmount: 10.5, externalId: name, redirectUrl: "https://shop.example/thanks?order=1" };
  const first = await edgetill.invoices.create(order, { idempotencyKey: name });
  const second = await edgetill.invoices.create(order, { idempotencyKey: name });
  const exists = await failure(edgetill.invoices.create(order));
  for (let count = 0; count < 4; count += 1) await edgetill.invoices.create({ name, rawAmount: 1 });
  const listed = [];
  for await (const { id } of edgetill.invoices.list({ search: name, limit: 2 })) listed.push(id);
  const cancelled = await edgetill.invoices.cancel(listed[0]);
  const again = await failure(edgetill.invoices.cancel(listed[0]));
  const accepted = await edgetill.invoices.resolve(first.id, { action: "ACCEPT", reason: "Paid in cash" });
  const unreachable = new Edgetill({ baseUrl: closed, merchantId, apiKey: secretKey, maxRetries: 0 });
  const lost = await failure(unreachable.invoices.create(order));
  return {
    isOnce: first.id === second.id,
    exists: [codeOf(exists), exists?.facts?.invoiceId === first.id],
    listed: [listed.length, new Set(listed).size, listed.at(-1) === first.id],
    cancelled: [cancelled.status, codeOf(again)],
    accepted: [accepted.status, accepted.rawAmount],
    events: await eventTypes(edgetill, first.id),
    returned: await returned(baseUrl, accepted),
    ...(await received(delivery)),
    lost: [lost instanceof EdgetillConnectionError, lost instanceof EdgetillError, typeof lost.idempotencyKey],
    missing: codeOf(await failure(edgetill.wallets.get("wal_none"))),
  };
}

async function eventTypes(edgetill, invoiceId) {
  const types = [];
  for await (const { type } of edgetill.events.poll({ invoiceId, intervalMs: 50, type: "invoice.*" }))
    if (types.push(type) === 2) break;
  return types;
}

/** Follows the customer's return from the checkout to the shop. */
async function returned(baseUrl, { id, checkoutUrl }) {
  const leaving = await fetch(`${checkoutUrl}/return`, { redirect: "manual" });
  const url = leaving.headers.get("location");
  const { invoiceId, status } = await verifyReturn({ url, baseUrl });
  const forged = await failure(verifyReturn({ url: url.replace("PAID", "OVERPAID"), baseUrl }));
  return [invoiceId === id, status, forged?.reason];
}

async function received({ payload, headers, secret }) {
  const event = await verifyWebhook({ payload, headers, secret });
  const forged = await failure(verifyWebhook({ payload: `${payload} `, headers, secret }));
  return { webhook: [event.type, forged instanceof WebhookVerificationError && forged.reason] };
}

/** Makes the calls of a page with a public key that sells one product. */
export async function pageStory({ baseUrl, merchantId, publicKey, productId, name }) {
  const page = new EdgetillPublic({ baseUrl, merchantId, apiKey: publicKey });
  const order = { productId, customerEmail: "ann@example.com" };
  const first = await page.invoices.create(order, { idempotencyKey: name });
  const second = await page.invoices.create(order, { idempotencyKey: name });
  const found = [];
  for await (const { id } of page.products.list()) found.push(id);
  const methods = await page.invoices.listPaymentMethods(first.id);
  const read = await page.invoices.get(first.id);
  return {
    isOnce: first.id === second.id,
    sold: [first.rawAmount, first.customer, read.status, read.product.id === productId],
    found: found.includes(productId),
    methods: Array.isArray(methods.data),
    cheaper: codeOf(await failure(page.invoices.create({ productId, rawAmount: 0.01 }))),
    server: codeOf(await failure(page.invoices.create({ productId, externalId: "1" }))),
    missing: codeOf(await failure(page.products.get("prd_none"))),
    fake: await fakeStory(),
    secret: nameOfError(() => new EdgetillPublic({ baseUrl, merchantId, apiKey: "sk_live_1" })),
  };
}

/** Makes calls to the package's fake, in the same runtime. */
async function fakeStory() {
  const fake = new FakeEdgetill();
  const edgetill = new Edgetill(fake.options);
  await edgetill.webhooks.create({ url: "https://shop.com/hook", events: ["invoice.paid"] });
  const order = { name: "Order", rawAmount: 10, redirectUrl: "https://shop.example/thanks" };
  const { id } = await edgetill.invoices.create(order);
  fake.pay(id);
  const at = { baseUrl: fake.options.baseUrl, fetch: fake.fetch };
  const { status } = await verifyReturn({ url: await fake.returnUrl(id), ...at });
  const delivered = await fake.deliver(() => new Response(null, { status: 204 }));
  return [status, delivered.map(({ type }) => type).join()];
}

function nameOfError(run) {
  try {
    run();
    return undefined;
  } catch (error) {
    return error.name;
  }
}
