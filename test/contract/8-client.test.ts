// Interface 8 "Client retry guidance": the client of this repository, with the real service.
import { createServer, request as forward } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { Edgetill, EdgetillConnectionError, EdgetillError, type NewInvoice } from "../../client/edgetill.ts";
import { listen } from "../support/listen.ts";
import { service, shop, unique } from "./client.ts";

const options = { baseUrl: service.baseUrl, apiKey: service.secretKey, merchantId: service.merchantId };
const edgetill = new Edgetill(options);

async function failure(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => expect.unreachable("the call succeeded"),
    (error: unknown) => error,
  );
}

/** A proxy to the service that loses the first answers, so that the client does not know what was done. */
async function losingAnswers(count: number): Promise<{ readonly baseUrl: string; readonly keys: readonly unknown[] }> {
  const keys: unknown[] = [];
  const server = createServer((request, response) => {
    keys.push(request.headers["idempotency-key"]);
    const isLost = keys.length <= count;
    const { method, headers } = request;
    const onward = forward(`${service.baseUrl}${request.url}`, { method, headers }, (answer) => {
      if (isLost) {
        answer.resume().once("end", () => response.destroy());
      } else {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      }
    });
    request.pipe(onward);
  });
  const { origin, close } = await listen(server);
  onTestFinished(close);
  return { baseUrl: origin, keys };
}

const named = async (search: string) => {
  const found: string[] = [];
  for await (const { id } of edgetill.invoices.list({ search, limit: 2 })) found.push(id);
  return found;
};

test("creating an invoice twice with one idempotency key makes one invoice", async () => {
  const [name, idempotencyKey] = [unique("once"), unique()];
  const order: NewInvoice = { name, rawAmount: 10, metadata: { order: "1001" } };
  const first = await edgetill.invoices.create(order, { idempotencyKey });
  expect(await edgetill.invoices.create(order, { idempotencyKey })).toEqual(first);
  expect(await named(name)).toEqual([first.id]);
  expect(first).toMatchObject({
    name,
    rawAmount: "10.000000",
    status: "AWAITING_PAYMENT",
    metadata: { order: "1001" },
  });
});

test("retries after lost answers make only one invoice", async () => {
  const name = unique("lost");
  const { baseUrl, keys } = await losingAnswers(3);
  const client = new Edgetill({ ...options, baseUrl, backoff: { baseMs: 10, capMs: 20 } });
  const made = await client.invoices.create({ name, rawAmount: 10 });
  expect(keys).toHaveLength(4);
  expect(new Set(keys).size).toBe(1);
  expect(await named(name)).toEqual([made.id]);
});

test("a creation that failed can be finished later with the idempotency key from the error", async () => {
  const name = unique("later");
  const { baseUrl } = await losingAnswers(1);
  const client = new Edgetill({ ...options, baseUrl, maxRetries: 0 });
  const error = await failure(client.invoices.create({ name, rawAmount: 10 }));
  if (!(error instanceof EdgetillConnectionError)) throw error;
  const made = await edgetill.invoices.create({ name, rawAmount: 10 }, { idempotencyKey: error.idempotencyKey });
  expect(await named(name)).toEqual([made.id]);
});

test("iterating over a list yields every row once, newest first", async () => {
  const name = unique("page");
  const made: string[] = [];
  for (let n = 0; n < 5; n += 1) made.unshift((await edgetill.invoices.create({ name, rawAmount: 1 })).id);
  expect(await named(name)).toEqual(made);
  const page = await edgetill.invoices.list({ search: name, limit: 2 });
  expect(page.data.map(({ id }) => id)).toEqual(made.slice(0, 2));
  expect(page.pagination).toMatchObject({ total: 5, lastPage: 3 });
  const next = await edgetill.invoices.list({ search: name, limit: 2, cursor: page.nextCursor ?? "" });
  expect(next.data.map(({ id }) => id)).toEqual(made.slice(2, 4));
  expect(next.pagination).toBeUndefined();
  expect((await edgetill.invoices.list({ search: name, page: 1 })).pagination).toMatchObject({ total: 5 });
});

test("an invalid body throws an error with its code and details, and is not retried", async () => {
  const { baseUrl, keys } = await losingAnswers(0);
  const client = new Edgetill({ ...options, baseUrl });
  const error = await failure(client.invoices.create({ name: "", rawAmount: -1 }));
  expect(error).toBeInstanceOf(EdgetillError);
  expect(error).toMatchObject({ status: 400, code: "VALIDATION_FAILED", attempts: 1 });
  expect(error).toMatchObject({ requestId: expect.stringMatching(/^req_/), message: expect.stringMatching(/\S/) });
  const { details } = error as EdgetillError;
  expect(details.map(({ path }) => path).sort()).toEqual(["name", "rawAmount"]);
  expect(keys).toHaveLength(1);
});

test("a different body under a used idempotency key throws a conflict, and is not retried", async () => {
  const idempotencyKey = unique();
  await edgetill.invoices.create({ name: "Order", rawAmount: 10 }, { idempotencyKey });
  const error = await failure(edgetill.invoices.create({ name: "Order", rawAmount: 11 }, { idempotencyKey }));
  expect(error).toMatchObject({ status: 409, code: "IDEMPOTENCY_KEY_REUSED", attempts: 1, idempotencyKey });
});

test("an error has the details that the refusal contains", async () => {
  const externalId = unique();
  const { id } = await edgetill.invoices.create({ name: "Order", rawAmount: 10, externalId });
  const error = await failure(edgetill.invoices.create({ name: "Order", rawAmount: 10, externalId }));
  expect(error).toMatchObject({ status: 409, code: "EXTERNAL_ID_EXISTS", facts: { invoiceId: id } });
});

test("a wrong API key throws UNAUTHORIZED without showing the key", async () => {
  const apiKey = "sk_live_wrongwrongwrongwrong";
  const error = await failure(new Edgetill({ ...options, apiKey }).invoices.list());
  expect(error).toMatchObject({ status: 401, code: "UNAUTHORIZED", attempts: 1 });
  expect(String(error)).not.toContain(apiKey);
});

test("an invoice can be read, changed and cancelled", async () => {
  const { id } = await edgetill.invoices.create({ name: "Order", rawAmount: 10, customerEmail: "anna@shop.example" });
  expect((await edgetill.invoices.update(id, { name: "Order 2" })).name).toBe("Order 2");
  expect((await edgetill.invoices.cancel(id)).status).toBe("CANCELLED");
  expect(await edgetill.invoices.get(id)).toEqual((await shop.get(`/invoices/${id}`)).body);
});

test("polling events yields each event of an invoice once and in order, with the same content as a read by id", async () => {
  const { id: invoiceId } = await edgetill.invoices.create({ name: "Order", rawAmount: 10 });
  await edgetill.invoices.cancel(invoiceId);
  const types: string[] = [];
  for await (const event of edgetill.events.poll({ invoiceId, intervalMs: 50, signal: AbortSignal.timeout(60_000) })) {
    expect(await edgetill.events.get(event.id)).toEqual(event);
    types.push(event.type);
    if (event.type === "invoice.cancelled") {
      expect(event.data).toMatchObject({ invoiceId, previousStatus: "AWAITING_PAYMENT", invoice: { id: invoiceId } });
      break;
    }
  }
  expect(types).toEqual(["invoice.created", "invoice.cancelled"]);
  const newest: string[] = [];
  for await (const { type } of edgetill.events.list({ invoiceId, limit: 1 })) newest.push(type);
  expect(newest).toEqual(types.toReversed());
});
