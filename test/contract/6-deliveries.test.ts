import { createHmac } from "node:crypto";
import { afterAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { Reception } from "../support/receiver-control.ts";
import { createInvoice, expectOk, expectRefusal, registerWallet, removeWallets, shop, unique } from "./client.ts";
import { freshDirectWallet } from "./key-material.ts";
import { expectInvoiceShape, type Invoice, TIMESTAMP } from "./shapes.ts";
import {
  type Delivery,
  type Endpoint,
  type Happening,
  type Listed,
  receiver,
  register,
  useReceiver,
  WITHIN,
} from "./webhooks-harness.ts";

useReceiver();

const happening = ({ body }: Reception): Happening => JSON.parse(body);

const sequenceOf = (reception: Reception) => happening(reception).sequence ?? 0;
const typesOf = (log: readonly Reception[]) => log.map((each) => happening(each).type);
const eventIds = (log: readonly Reception[]) => log.map(({ headers }) => headers["webhook-id"]);

/** Waits until a delivery has this status after this many attempts. */
async function settled(read: () => Promise<Delivery>, status = "SUCCEEDED", attempts = 1): Promise<Delivery> {
  return vi.waitFor(async () => {
    const delivery = await read();
    expect(delivery).toMatchObject({ status, attempts });
    return delivery;
  }, WITHIN);
}

/** The delivery of the endpoint's newest event. */
async function newest(hook: Awaited<ReturnType<typeof register>>): Promise<Delivery> {
  const [delivery] = await hook.deliveries("?limit=1");
  if (delivery === undefined) throw new Error("the endpoint has no delivery");
  return delivery;
}

describe("a delivery", () => {
  beforeEach(async () => {
    await removeWallets(shop);
    await registerWallet(shop, freshDirectWallet("ETH", "ETH"));
  });
  afterAll(() => removeWallets(shop));

  test("sends the event as GET shows it, signed, to each endpoint that subscribes to its type", async () => {
    const all = await register(["*"]);
    const some = await register(["payment.created"]);
    const invoice = await createInvoice(shop, { externalId: unique() });
    // Both are sent at the same time, so either may arrive first.
    const came = (await all.arrivals(2)).toSorted((one, other) => sequenceOf(one) - sequenceOf(other));
    expect(typesOf(came)).toEqual(["invoice.created", "payment.created"]);
    for (const reception of came) {
      const { headers, body } = reception;
      expect(reception).toMatchObject({ method: "POST", signedBy: [all.secret] });
      expect(headers["content-type"]).toBe("application/json");
      const event = happening(reception);
      expect(event).toMatchObject({
        id: headers["webhook-id"],
        event: event.type,
        timestamp: expect.stringMatching(TIMESTAMP),
        apiVersion: "v1",
        merchantId: shop.merchantId,
        data: { invoiceId: invoice.id },
      });
      expect((await shop.get(`/events/${event.id}`)).text).toBe(body);
    }
    const [created, activated] = came.map(happening);
    expect([created?.sequence, activated?.sequence]).toEqual([1, 2]);
    expect(activated?.data.paymentMethod).toEqual(invoice.paymentMethods.find(({ status }) => status === "ACTIVE"));
    expectInvoiceShape(created?.data.invoice as Invoice);
    expect(created?.data.invoice).toEqual(expectOk(await shop.get<Invoice>(`/invoices/${invoice.id}`), 200));

    const [only] = await some.arrivals(1);
    expect(only?.body).toBe(came[1]?.body);
    expect(only?.signedBy).toEqual([some.secret]);
  });

  test("also has the t=,v1= signature header and the ids of its endpoint, event and delivery", async () => {
    const hook = await register(["invoice.created"]);
    await createInvoice(shop);
    const [{ headers, body } = { headers: {} as Record<string, string>, body: "" }] = await hook.arrivals(1);
    const [, time, signature] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(headers["x-signature"] ?? "") ?? [];
    expect(signature).toBe(createHmac("sha256", hook.secret).update(`${time}.${body}`).digest("hex"));
    expect(time).toBe(headers["webhook-timestamp"]);
    const [delivery] = await hook.deliveries();
    expect(headers).toMatchObject({
      "x-webhook-id": hook.id,
      "x-event-id": headers["webhook-id"],
      "x-delivery-id": delivery?.id,
    });
  });

  test("is sent only for event types that the endpoint subscribes to; its event has a sequence number, counted from 1 for each invoice", async () => {
    const hook = await register(["invoice.cancelled", "payment.created"]);
    const invoices = [await createInvoice(shop), await createInvoice(shop)];
    for (const { id } of invoices) expectOk(await shop.post(`/invoices/${id}/cancel`), 200);
    await shop.post(`${hook.path}/ping`);
    const log = await vi.waitFor(async () => {
      const all = await hook.arrivals(5);
      expect(typesOf(all)).toContain("ping");
      return all;
    }, WITHIN);
    expect(
      typesOf(log)
        .filter((type) => type !== "ping")
        .sort(),
    ).toEqual(["invoice.cancelled", "invoice.cancelled", "payment.created", "payment.created"]);
    for (const { id } of invoices) {
      const { data } = expectOk(await shop.get<Listed<Happening>>(`/events?invoiceId=${id}&limit=100`), 200);
      const sequences = data.map(({ sequence }) => sequence).reverse();
      expect(sequences).toEqual(sequences.map((_, index) => index + 1));
      const [cancelled] = data.filter(({ type }) => type === "invoice.cancelled");
      const came = log.map(happening).find((each) => each.id === cancelled?.id);
      expect(came).toEqual(cancelled);
      expect(came?.data.invoice?.status).toBe("CANCELLED");
    }
  });

  test("is retried until the receiver accepts it, with the same id and body and a fresh signature", async () => {
    const hook = await register(["invoice.created"], {}, "fail-each/2");
    await createInvoice(shop);
    const log = await hook.arrivals(3);
    expect(new Set(eventIds(log)).size).toBe(1);
    expect(new Set(log.map(({ body }) => body)).size).toBe(1);
    expect(log.map(({ signedBy }) => signedBy)).toEqual([[hook.secret], [hook.secret], [hook.secret]]);
    const times = log.map(({ headers }) => Number(headers["webhook-timestamp"]));
    expect(times).toEqual([...new Set(times)].sort((a, b) => a - b));
    const { id } = await newest(hook);
    const delivery = await settled(() => hook.delivery(id), "SUCCEEDED", 3);
    expect(delivery).toMatchObject({ nextAttemptAt: null, eventId: eventIds(log)[0], eventType: "invoice.created" });
    expect(await hook.log()).toHaveLength(3);
  });

  test("has a log of each attempt: the request headers, the response and the latency", async () => {
    const hook = await register(["invoice.created"], { retryCount: 1 });
    await hook.tell("status/503?body=closed%20for%20the%20night");
    await createInvoice(shop);
    const { id } = await newest(hook);
    const delivery = await settled(() => hook.delivery(id), "FAILED", 2);
    const log = await hook.arrivals(2);
    expect(delivery.attemptLog).toEqual(
      [...log].reverse().map(({ headers }, index) => ({
        number: 2 - index,
        at: expect.stringMatching(TIMESTAMP),
        requestHeaders: expect.objectContaining({
          "webhook-id": headers["webhook-id"],
          "webhook-timestamp": headers["webhook-timestamp"],
          "x-delivery-id": id,
        }),
        statusCode: 503,
        error: null,
        latencyMs: expect.any(Number),
        response: "closed for the night",
      })),
    );
    expect(delivery.lastAttempt).toEqual(delivery.attemptLog?.[0]);
    for (const [index, { requestHeaders, latencyMs }] of (delivery.attemptLog ?? []).entries()) {
      expect(log.at(-1 - index)?.headers).toMatchObject(requestHeaders);
      expect(latencyMs).toBeGreaterThanOrEqual(0);
      expect(latencyMs).toBeLessThan(60_000);
    }
    expect(await hook.deliveries("?status=FAILED")).toMatchObject([{ id, status: "FAILED" }]);
    expect(await hook.deliveries("?status=SUCCEEDED")).toEqual([]);
    expect(JSON.stringify(delivery)).not.toContain(hook.secret);
  });

  test("does not follow a redirect, and fails with TIMEOUT if the receiver does not answer within the limit", async () => {
    const moved = await register(["invoice.created"], { retryCount: 0 }, "redirect/302");
    const silent = await register(["invoice.created"], { retryCount: 0, timeout: 1_000 }, "hang");
    await createInvoice(shop);
    const [{ id: redirected }, { id: hung }] = [await newest(moved), await newest(silent)];
    const answered = await settled(() => moved.delivery(redirected), "FAILED");
    expect(answered.lastAttempt).toMatchObject({ statusCode: 302, error: null });
    expect((await moved.log()).map(({ path }) => path)).toEqual([expect.stringContaining("/redirect/302")]);
    const unanswered = await settled(() => silent.delivery(hung), "FAILED");
    expect(unanswered.lastAttempt).toMatchObject({ statusCode: null, error: "TIMEOUT", response: null });
  });

  test("waits as long as Retry-After asks before the next attempt", async () => {
    const hook = await register(["invoice.created"]);
    await hook.tell("status/429?retry-after=8");
    await createInvoice(shop);
    const { id } = await newest(hook);
    const delivery = await settled(() => hook.delivery(id), "PENDING");
    const waitMs = Date.parse(delivery.nextAttemptAt ?? "") - Date.parse(delivery.lastAttempt?.at ?? "");
    expect(waitMs).toBeGreaterThanOrEqual(8_000);
    await hook.tell("ok");
    const [first, second] = await hook.arrivals(2);
    expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThanOrEqual(7_900);
  });

  test("answered with 410 disables the endpoint and emits an event; enabling the endpoint again sends the waiting deliveries", async () => {
    const watch = await register(["webhook.endpoint_disabled"]);
    const hook = await register(["invoice.created"]);
    await hook.tell("status/410");
    await createInvoice(shop);
    const read = async () => expectOk(await shop.get<Endpoint>(hook.path), 200);
    await expect.poll(async () => (await read()).isActive, WITHIN).toBe(false);
    expect(await read()).toMatchObject({ disabledReason: "GONE" });
    const [reception] = await watch.arrivals(1);
    expect(happening(reception as Reception).data).toMatchObject({ webhookId: hook.id, reason: "GONE" });
    expectRefusal(await shop.post(`${hook.path}/ping`), 422, "WEBHOOK_INACTIVE");
    await hook.tell("ok");
    expectOk(await shop.patch(hook.path, { isActive: true }), 200);
    const log = await hook.arrivals(2);
    expect(new Set(eventIds(log)).size).toBe(1);
    expect(await read()).toMatchObject({ isActive: true, disabledReason: null, failuresInRow: 0 });
  });

  test("can be sent again on request, with the same id", async () => {
    const hook = await register(["invoice.created"]);
    await createInvoice(shop);
    const { id } = await newest(hook);
    await settled(() => hook.delivery(id));
    expectOk(await shop.post(`${hook.path}/deliveries/${id}/redeliver`), 200);
    const log = await hook.arrivals(2);
    expect(log[1]).toMatchObject({ body: log[0]?.body, signedBy: [hook.secret] });
    const delivery = await settled(() => hook.delivery(id), "SUCCEEDED", 2);
    expect(delivery.attemptLog?.map(({ number, statusCode }) => [number, statusCode])).toEqual([
      [2, 200],
      [1, 200],
    ]);
    const nothing = `${hook.path}/deliveries/dlv_01ARZ3NDEKTSV4RRFFQ69G5FAV`;
    expectRefusal(await shop.post(`${nothing}/redeliver`), 404, "DELIVERY_NOT_FOUND");
  });

  test("can be repeated for all events in a time range, including events from before the endpoint existed", async () => {
    const from = new Date().toISOString();
    const invoices = [await createInvoice(shop), await createInvoice(shop), await createInvoice(shop)];
    const to = new Date(Date.now() + 1).toISOString();
    const hook = await register(["invoice.created"]);
    const answer = await shop.post<{ scheduled: number }>(`${hook.path}/replay`, { from, to });
    expect(expectOk(answer, 202)).toEqual({ scheduled: 3 });
    const log = await hook.arrivals(3);
    const ids = invoices.map(({ id }) => id);
    expect(log.map((each) => happening(each).data.invoiceId).sort()).toEqual([...ids].sort());
    // A delivery in progress is not scheduled again; the receiver has it before the server has recorded it.
    for (const { id } of await hook.deliveries()) await settled(() => hook.delivery(id));
    const everything = { from, to, types: ["*"] };
    const again = await shop.post<{ scheduled: number }>(`${hook.path}/replay`, everything);
    expect(expectOk(again, 202).scheduled).toBeGreaterThanOrEqual(6);
    const all = await hook.arrivals(9);
    expect(typesOf(all.slice(3)).filter((type) => type === "payment.created")).toHaveLength(3);
    expectRefusal(await shop.post(`${hook.path}/replay`, { from: to, to: from }), 400, "VALIDATION_FAILED");
  });

  test("is signed with both secrets during a rotation, and the new secret is shown only once", async () => {
    const hook = await register(["invoice.created"]);
    const rotated = expectOk(await shop.post<Endpoint>(`${hook.path}/rotate-secret`), 200);
    const fresh = rotated.secret ?? "";
    expect(fresh).toMatch(/^whsec_/);
    expect(fresh).not.toBe(hook.secret);
    const [first, second] = rotated.webhookSecrets;
    expect([first, second]).toMatchObject([
      { isActive: true, expiresAt: null },
      { isActive: true, expiresAt: expect.stringMatching(TIMESTAMP) },
    ]);
    const leftMs = Date.parse(second?.expiresAt ?? "") - Date.now();
    expect(Math.abs(leftMs - 86_400_000)).toBeLessThan(60_000);
    await receiver.trust(hook.key, hook.secret, fresh);
    await createInvoice(shop);
    const [came] = await hook.arrivals(1);
    expect(came?.signedBy).toEqual([hook.secret, fresh]);
    expect(came?.headers["webhook-signature"]).toMatch(/^v1,\S{44} v1,\S{44}$/);
    expect(came?.headers["x-signature"]).toMatch(/^t=\d+,v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/);
    expect((await shop.get(hook.path)).text).not.toContain(fresh.slice(11, 40));
  });

  test("of a ping reaches its endpoint whatever it subscribes to, and no other endpoint", async () => {
    const [hook, other] = [await register(["invoice.paid"]), await register(["*"])];
    const ping = expectOk(await shop.post<{ id: string; eventId: string }>(`${hook.path}/ping`), 201);
    expect(ping).toMatchObject({ eventType: "ping", status: "PENDING" });
    const [came] = await hook.arrivals(1);
    expect(came?.signedBy).toEqual([hook.secret]);
    expect(happening(came as Reception)).toMatchObject({
      id: ping.eventId,
      type: "ping",
      sequence: null,
      data: { webhookId: hook.id },
    });
    await settled(() => hook.delivery(ping.id));
    await createInvoice(shop);
    expect(typesOf(await other.arrivals(2))).not.toContain("ping");
  });

  test("stops once its endpoint is deleted, even if it was waiting for a retry", async () => {
    const [hook, other] = [await register(["invoice.created"]), await register(["invoice.created"])];
    await Promise.all([hook.tell("status/500"), other.tell("status/500")]);
    await createInvoice(shop);
    await Promise.all([hook.arrivals(1), other.arrivals(1)]);
    const answer = await shop.delete(hook.path);
    expect([answer.status, answer.text]).toEqual([204, ""]);
    expectRefusal(await shop.get(hook.path), 404, "WEBHOOK_NOT_FOUND");
    expectRefusal(await shop.get(`${hook.path}/deliveries`), 404, "WEBHOOK_NOT_FOUND");
    // An attempt that was in flight during the deletion may still arrive, but before the other endpoint's next attempt.
    await other.arrivals((await other.log()).length + 1);
    const before = (await hook.log()).length;
    await createInvoice(shop);
    await other.arrivals((await other.log()).length + 3);
    expect(await hook.log()).toHaveLength(before);
  });
});
