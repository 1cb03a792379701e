// Interface 6 and webhooks.md, as a merchant's server meets them: a real receiver on loopback, which verifies with `standardwebhooks`.
import { createHmac } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { findFreePort } from "../../scripts/free-port.ts";
import { EXAMPLE_LANGUAGES, exampleName, isExampleTested, startExample } from "../support/example-receiver.ts";
import type { Listening } from "../support/listen.ts";
import { startReceiver } from "../support/receiver.ts";
import { type ReceiverControl, type Reception, receiverAt } from "../support/receiver-control.ts";
import {
  browser,
  createInvoice,
  expectOk,
  expectRefusal,
  registerWallet,
  removeWallets,
  shop,
  stranger,
  unique,
} from "./client.ts";
import { freshDirectWallet } from "./key-material.ts";
import { expectInvoiceShape, type Invoice, idOf, TIMESTAMP } from "./shapes.ts";

interface Endpoint {
  readonly id: string;
  readonly merchantId: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly description: string | null;
  readonly isActive: boolean;
  readonly retryCount: number;
  readonly timeout: number;
  readonly webhookSecrets: readonly {
    readonly id: string;
    readonly webhookId: string;
    readonly secretKeyPreview: string;
    readonly isActive: boolean;
    readonly expiresAt: string | null;
  }[];
  readonly disabledReason: string | null;
  readonly failuresInRow: number;
  /** Only in the answer to a registration or a rotation. */
  readonly secret?: string;
}

interface Happening {
  readonly id: string;
  readonly type: string;
  readonly event: string;
  readonly timestamp: string;
  readonly apiVersion: string;
  readonly merchantId: string;
  readonly sequence: number | null;
  readonly data: { readonly invoiceId?: string; readonly invoice?: Invoice; readonly paymentMethod?: unknown };
}

interface Attempt {
  readonly number: number;
  readonly at: string;
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly latencyMs: number;
  readonly response: string | null;
}

interface Delivery {
  readonly id: string;
  readonly webhookId: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly status: "PENDING" | "SUCCEEDED" | "FAILED";
  readonly attempts: number;
  readonly nextAttemptAt: string | null;
  readonly lastAttempt: Attempt | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly attemptLog?: readonly Attempt[];
}

interface Listed<T> {
  readonly data: readonly T[];
  readonly nextCursor: string | null;
}

const WITHIN = { timeout: 60_000, interval: 50 };

let listening: Listening;
let receiver: ReceiverControl;
const folder = mkdtempSync(join(tmpdir(), "edgetill-webhooks-"));

beforeAll(async () => {
  listening = await startReceiver();
  receiver = receiverAt(listening.origin);
  await removeWallets(shop);
});
afterAll(async () => {
  await listening.close();
  rmSync(folder, { recursive: true });
});
afterEach(async () => {
  for (const { id } of expectOk(await shop.get<Endpoint[]>("/webhooks"), 200)) await shop.delete(`/webhooks/${id}`);
});

/** An endpoint of its own for a test: `told` until the test tells it otherwise. */
async function register(events: readonly string[], fields: Record<string, unknown> = {}, behaviour = "told") {
  const key = unique("hook");
  const url = receiver.url(behaviour, key);
  const endpoint = expectOk(await shop.post<Endpoint>("/webhooks", { url, events, ...fields }), 201);
  const secret = endpoint.secret ?? "";
  await receiver.trust(key, secret);
  return {
    id: endpoint.id,
    path: `/webhooks/${endpoint.id}`,
    key,
    secret,
    endpoint,
    tell: (how: string) => receiver.tell(key, how),
    log: () => receiver.log(key),
    /** Waits until so many have come, and gives all. */
    arrivals: (count: number) => arrivals(key, count),
    deliveries: async (query = "") =>
      expectOk(await shop.get<Listed<Delivery>>(`/webhooks/${endpoint.id}/deliveries${query}`), 200).data,
    delivery: async (id: string) =>
      expectOk(await shop.get<Delivery>(`/webhooks/${endpoint.id}/deliveries/${id}`), 200),
  };
}

async function arrivals(key: string, count: number): Promise<readonly Reception[]> {
  return vi.waitFor(async () => {
    const log = await receiver.log(key);
    const told = log.map(({ headers, body }) => `${headers["webhook-id"]} ${body.slice(0, 60)}`).join("\n");
    expect(log.length, told).toBeGreaterThanOrEqual(count);
    return log;
  }, WITHIN);
}

const happening = ({ body }: Reception): Happening => JSON.parse(body);
const typesOf = (log: readonly Reception[]) => log.map((each) => happening(each).type);
const eventIds = (log: readonly Reception[]) => log.map(({ headers }) => headers["webhook-id"]);

/** Waits until a delivery has ended, or has come to what is asked. */
async function settled(read: () => Promise<Delivery>, status = "SUCCEEDED", attempts = 1): Promise<Delivery> {
  return vi.waitFor(async () => {
    const delivery = await read();
    expect(delivery).toMatchObject({ status, attempts });
    return delivery;
  }, WITHIN);
}

/** What `hook` is owed of its newest event. */
async function newest(hook: Awaited<ReturnType<typeof register>>): Promise<Delivery> {
  const [delivery] = await hook.deliveries("?limit=1");
  if (delivery === undefined) throw new Error("the endpoint is owed nothing");
  return delivery;
}

describe("an endpoint", () => {
  test("is registered with its secret shown once, and read, listed and changed without it", async () => {
    const { endpoint, id, path, secret } = await register(["invoice.*", "payment.created"], { description: "Till 4" });
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const { secret: _, ...shown } = endpoint;
    expect(shown).toMatchObject({
      id: expect.stringMatching(idOf("whk")),
      merchantId: shop.merchantId,
      events: ["invoice.*", "payment.created"],
      description: "Till 4",
      isActive: true,
      retryCount: 9,
      timeout: 15_000,
      webhookSecrets: [{ webhookId: id, isActive: true, expiresAt: null }],
      disabledReason: null,
    });
    const read = await shop.get<Endpoint>(path);
    expect(expectOk(read, 200)).toEqual(shown);
    const list = await shop.get<Endpoint[]>("/webhooks");
    expect(expectOk(list, 200)).toContainEqual(shown);
    const changed = await shop.patch<Endpoint>(path, { retryCount: 2, timeout: 5_000, events: ["*"] });
    expect(expectOk(changed, 200)).toMatchObject({ id, retryCount: 2, timeout: 5_000, events: ["*"], isActive: true });
    for (const { text } of [read, list, changed]) expect(text).not.toContain(secret.slice(11, 40));
  });

  test("is out of reach of a browser and of other merchants", async () => {
    const { path } = await register(["*"]);
    expectRefusal(await browser.get("/webhooks"), 403);
    expectRefusal(await browser.post("/webhooks", { url: "https://shop.example.com/", events: ["*"] }), 403);
    for (const rest of [path, `${path}/deliveries`]) {
      expectRefusal(await stranger.get(rest), 404, "WEBHOOK_NOT_FOUND");
    }
    expectRefusal(await stranger.delete(path), 404, "WEBHOOK_NOT_FOUND");
    expectOk(await shop.get(path), 200);
  });

  test("subscribes to nothing that there is not", async () => {
    const answer = await shop.post("/webhooks", { url: receiver.url("ok", unique()), events: ["invoice.payed"] });
    const { details } = expectRefusal(answer, 400, "VALIDATION_FAILED");
    expect(details).toEqual([{ path: "events.0", message: expect.stringContaining("invoice.paid") }]);
  });

  test.for([
    "https://shop.example.com/webhooks?shop=4",
    "http://127.0.0.1:4242/webhooks",
    "http://localhost/",
    "http://[::1]:4242/",
  ])("may be %s in development", async (url) => {
    const answer = await shop.post<Endpoint>("/webhooks", { url, events: ["*"], isActive: false });
    expect(expectOk(answer, 201)).toMatchObject({ url, isActive: false });
  });

  test.for([
    ["https://10.0.0.1", "IP address"],
    ["https://127.0.0.1/", "IP address"],
    ["https://[::ffff:10.0.0.1]/", "IP address"],
    ["https://0x7f000001/", "IP address"],
    ["https://localhost/", "reserved"],
    ["https://till.internal/", "reserved"],
    ["https://metadata/", "single label"],
    ["https://user:pass@shop.example.com/", "user name"],
    ["https://shop.example.com:8443/", "port"],
    ["https://shop.example.com/#paid", "fragment"],
    ["http://shop.example.com/", "https://"],
    ["http://10.0.0.1:4242/", "https://"],
    ["http://127.0.0.2:4242/", "https://"],
    ["ftp://shop.example.com/", "https://"],
    ["shop.example.com", "https://"],
  ] as const)("may not be %s, neither when it is registered nor when it is changed", async ([url, reason]) => {
    const { path, endpoint } = await register(["*"]);
    for (const answer of [await shop.post("/webhooks", { url, events: ["*"] }), await shop.patch(path, { url })]) {
      const { message } = expectRefusal(answer, 400, "WEBHOOK_URL_REFUSED");
      expect(message).toContain(reason);
    }
    expect(expectOk(await shop.get<Endpoint>(path), 200).url).toBe(endpoint.url);
    expect(expectOk(await shop.get<Endpoint[]>("/webhooks"), 200)).toHaveLength(1);
  });
});

describe("a delivery", () => {
  beforeEach(async () => {
    await removeWallets(shop);
    await registerWallet(shop, freshDirectWallet("ETH", "ETH"));
  });
  afterAll(() => removeWallets(shop));

  test("brings what GET shows of the event, signed, to each endpoint that subscribes to its type", async () => {
    const all = await register(["*"]);
    const some = await register(["payment.created"]);
    const invoice = await createInvoice(shop, { externalId: unique() });
    const came = await all.arrivals(2);
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

  test("carries the t=,v1= form of the signature and the ids of endpoint, event and delivery, too", async () => {
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

  test("numbers the events of each invoice from 1, and brings no type that the endpoint did not ask for", async () => {
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

  test("is tried again until the receiver takes it, with the same id and body and a signature of the moment", async () => {
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

  test("is written down with what was sent, the answer and how long it took", async () => {
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

  test("that is redirected follows nowhere, and one without an answer in time has failed", async () => {
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

  test("waits as long as Retry-After asks for", async () => {
    const hook = await register(["invoice.created"]);
    await hook.tell("status/429?retry-after=3");
    await createInvoice(shop);
    const { id } = await newest(hook);
    const delivery = await settled(() => hook.delivery(id), "PENDING");
    const waitMs = Date.parse(delivery.nextAttemptAt ?? "") - Date.parse(delivery.lastAttempt?.at ?? "");
    expect(waitMs).toBeGreaterThanOrEqual(3_000);
    await hook.tell("ok");
    const [first, second] = await hook.arrivals(2);
    expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThanOrEqual(2_900);
  });

  test("to an endpoint that says it is gone switches it off, which is an event; switched on it gets what has waited", async () => {
    const watch = await register(["webhook.endpoint_disabled"]);
    const hook = await register(["invoice.created"]);
    await hook.tell("status/410");
    await createInvoice(shop);
    const read = async () => expectOk(await shop.get<Endpoint>(hook.path), 200);
    await expect.poll(async () => (await read()).isActive, WITHIN).toBe(false);
    expect(await read()).toMatchObject({ disabledReason: "GONE" });
    const [told] = await watch.arrivals(1);
    expect(happening(told as Reception).data).toMatchObject({ webhookId: hook.id, reason: "GONE" });
    expectRefusal(await shop.post(`${hook.path}/ping`), 422, "WEBHOOK_INACTIVE");
    await hook.tell("ok");
    expectOk(await shop.patch(hook.path, { isActive: true }), 200);
    const log = await hook.arrivals(2);
    expect(new Set(eventIds(log)).size).toBe(1);
    expect(await read()).toMatchObject({ isActive: true, disabledReason: null, failuresInRow: 0 });
  });

  test("is made again when asked for, with the id it had", async () => {
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

  test("is made again for a range of times, also of what came before the endpoint", async () => {
    const from = new Date().toISOString();
    const invoices = [await createInvoice(shop), await createInvoice(shop), await createInvoice(shop)];
    const to = new Date(Date.now() + 1).toISOString();
    const hook = await register(["invoice.created"]);
    const answer = await shop.post<{ scheduled: number }>(`${hook.path}/replay`, { from, to });
    expect(expectOk(answer, 202)).toEqual({ scheduled: 3 });
    const log = await hook.arrivals(3);
    const ids = invoices.map(({ id }) => id);
    expect(log.map((each) => happening(each).data.invoiceId).sort()).toEqual([...ids].sort());
    const everything = { from, to, types: ["*"] };
    const again = await shop.post<{ scheduled: number }>(`${hook.path}/replay`, everything);
    expect(expectOk(again, 202).scheduled).toBeGreaterThanOrEqual(6);
    const all = await hook.arrivals(9);
    expect(typesOf(all.slice(3)).filter((type) => type === "payment.created")).toHaveLength(3);
    expectRefusal(await shop.post(`${hook.path}/replay`, { from: to, to: from }), 400, "VALIDATION_FAILED");
  });

  test("is signed with both secrets while one replaces the other, and the new one is shown once", async () => {
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

  test("of a ping comes whatever the endpoint subscribes to, and to no other", async () => {
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

  test("comes no more once its endpoint is deleted, not even what waited for it", async () => {
    const [hook, other] = [await register(["invoice.created"]), await register(["invoice.created"])];
    await Promise.all([hook.tell("status/500"), other.tell("status/500")]);
    await createInvoice(shop);
    await Promise.all([hook.arrivals(1), other.arrivals(1)]);
    const answer = await shop.delete(hook.path);
    expect([answer.status, answer.text]).toEqual([204, ""]);
    expectRefusal(await shop.get(hook.path), 404, "WEBHOOK_NOT_FOUND");
    expectRefusal(await shop.get(`${hook.path}/deliveries`), 404, "WEBHOOK_NOT_FOUND");
    // What was under way at that moment may still arrive; by the other's next attempt but one nothing more does.
    await other.arrivals((await other.log()).length + 1);
    const before = (await hook.log()).length;
    await createInvoice(shop);
    await other.arrivals((await other.log()).length + 3);
    expect(await hook.log()).toHaveLength(before);
  });
});

describe("events", () => {
  test("are polled from where the poller stands, oldest first, none twice and none left out", async () => {
    await removeWallets(shop);
    const [last] = expectOk(await shop.get<Listed<Happening>>("/events?limit=1"), 200).data;
    const poll = async (after: string, limit: number) =>
      expectOk(await shop.get<Listed<Happening>>(`/events?after=${after}&limit=${limit}`), 200);
    const start = last?.id ?? "0";
    expect(await poll(start, 10)).toEqual({ data: [], nextCursor: start });
    const invoices = [await createInvoice(shop), await createInvoice(shop)];
    for (const { id } of invoices) expectOk(await shop.post(`/invoices/${id}/cancel`), 200);
    const seen: Happening[] = [];
    let at = start;
    for (let page = await poll(at, 1); page.data.length > 0; page = await poll(at, 1)) {
      expect(page.data).toHaveLength(1);
      seen.push(...page.data);
      at = page.nextCursor ?? "";
    }
    expect((await poll(start, 100)).data).toEqual(seen);
    const of = (type: string) => seen.filter((each) => each.type === type).map(({ data }) => data.invoiceId);
    const ids = invoices.map(({ id }) => id);
    expect([of("invoice.created"), of("invoice.cancelled")]).toEqual([ids, ids]);
    expect(at).toBe(seen.at(-1)?.id);
  });

  test("are found by invoice and by type, newest first, and by their id alone only by their merchant", async () => {
    const { id } = await createInvoice(shop);
    expectOk(await shop.post(`/invoices/${id}/cancel`), 200);
    const list = async (query: string) => expectOk(await shop.get<Listed<Happening>>(`/events?${query}`), 200).data;
    const types = (await list(`invoiceId=${id}`)).map(({ type }) => type);
    expect([types[0], types.at(-1)]).toEqual(["invoice.cancelled", "invoice.created"]);
    const [event] = await list(`invoiceId=${id}&type=invoice.created`);
    expect(await list(`invoiceId=${id}&type=invoice.*`)).toContainEqual(event);
    expect(await list(`invoiceId=${id}&type=wallet.created`)).toEqual([]);
    expect(expectOk(await shop.get(`/events/${event?.id}`), 200)).toEqual(event);
    expectRefusal(await stranger.get(`/events/${event?.id}`), 404, "EVENT_NOT_FOUND");
    expectRefusal(await browser.get(`/events/${event?.id}`), 403);
    expectRefusal(await shop.get("/events?type=invoice.payed"), 400, "VALIDATION_FAILED");
  });
});

describe.for(EXAMPLE_LANGUAGES)("the documented receiver in %s", (language) => {
  if (!isExampleTested(language)) test.skip(exampleName(language), () => {});

  test.skipIf(!isExampleTested(language))("hears of all that happened while it was away, each once", async () => {
    await removeWallets(shop);
    const port = await findFreePort();
    const url = `http://127.0.0.1:${port}/webhooks`;
    const { id, secret = "" } = expectOk(await shop.post<Endpoint>("/webhooks", { url, events: ["invoice.*"] }), 201);
    const start = () => startExample({ language, secret, port, state: join(folder, `${language}.ids`) });
    const first = await start();
    let invoice: Invoice;
    try {
      const ping = expectOk(await shop.post<{ eventId: string }>(`/webhooks/${id}/ping`), 201);
      expect(await first.line("ping evt")).toBe(`ping ${ping.eventId} (verified)`);
      invoice = await createInvoice(shop, { rawAmount: 49.9 });
      expect(await first.line(invoice.id)).toBe(
        `invoice.created ${invoice.id} 49.900000 USD AWAITING_PAYMENT (verified, sequence 1)`,
      );
    } finally {
      await first.kill();
    }

    expectOk(await shop.post(`/invoices/${invoice.id}/cancel`), 200);
    const owed = async () =>
      expectOk(await shop.get<Listed<Delivery>>(`/webhooks/${id}/deliveries?limit=100`), 200).data;
    const of = async (type: string) => (await owed()).find(({ eventType }) => eventType === type);
    await expect.poll(async () => (await of("invoice.cancelled"))?.attempts, WITHIN).toBeGreaterThanOrEqual(1);
    const second = await start();
    try {
      expect(await second.line("invoice.cancelled")).toMatch(/ 49\.900000 USD CANCELLED \(verified, sequence \d+\)$/);
      const created = await of("invoice.created");
      expectOk(await shop.post(`/webhooks/${id}/deliveries/${created?.id}/redeliver`), 200);
      expect(await second.line("invoice.created")).toBe(
        `invoice.created ${invoice.id} 49.900000 USD AWAITING_PAYMENT again, ignored`,
      );
    } finally {
      await second.kill();
    }
  });
});
