// Interface 6 and webhooks.md, as a merchant's server sees them: a real receiver on loopback, which verifies with `standardwebhooks`.
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findFreePort } from "../../scripts/free-port.ts";
import { EXAMPLE_LANGUAGES, exampleName, isExampleTested, startExample } from "../support/example-receiver.ts";
import { browser, createInvoice, expectOk, expectRefusal, removeWallets, shop, stranger, unique } from "./client.ts";
import { type Invoice, idOf } from "./shapes.ts";
import {
  type Delivery,
  type Endpoint,
  folder,
  type Happening,
  type Listed,
  receiver,
  register,
  useReceiver,
  WITHIN,
} from "./webhooks-harness.ts";

useReceiver();

describe("an endpoint", () => {
  test("is registered with a secret that is shown once, and can be read, listed and changed without it", async () => {
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
    expect(expectOk(await shop.patch<Endpoint>(path, { retryCount: 10 }), 200).retryCount).toBe(10);
    const changed = await shop.patch<Endpoint>(path, { retryCount: 2, timeout: 5_000, events: ["*"] });
    expect(expectOk(changed, 200)).toMatchObject({ id, retryCount: 2, timeout: 5_000, events: ["*"], isActive: true });
    for (const { text } of [read, list, changed]) expect(text).not.toContain(secret.slice(11, 40));
  });

  test("is not accessible with a public key or to other merchants", async () => {
    const { path } = await register(["*"]);
    expectRefusal(await browser.get("/webhooks"), 403);
    expectRefusal(await browser.post("/webhooks", { url: "https://shop.example.com/", events: ["*"] }), 403);
    for (const rest of [path, `${path}/deliveries`]) {
      expectRefusal(await stranger.get(rest), 404, "WEBHOOK_NOT_FOUND");
    }
    expectRefusal(await stranger.delete(path), 404, "WEBHOOK_NOT_FOUND");
    expectOk(await shop.get(path), 200);
  });

  test("cannot subscribe to an unknown event type", async () => {
    const answer = await shop.post("/webhooks", { url: receiver.url("ok", unique()), events: ["invoice.payed"] });
    const { details } = expectRefusal(answer, 400, "VALIDATION_FAILED");
    expect(details).toEqual([{ path: "events.0", message: expect.stringContaining("invoice.paid") }]);
  });

  test.for([
    "https://shop.example.com/webhooks?shop=4",
    "http://127.0.0.1:4242/webhooks",
    "http://localhost/",
    "http://[::1]:4242/",
  ])("may have the URL %s in development", async (url) => {
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
  ] as const)("may not have the URL %s, either at registration or after a change", async ([url, reason]) => {
    const { path, endpoint } = await register(["*"]);
    for (const answer of [await shop.post("/webhooks", { url, events: ["*"] }), await shop.patch(path, { url })]) {
      const { message } = expectRefusal(answer, 400, "WEBHOOK_URL_REFUSED");
      expect(message).toContain(reason);
    }
    expect(expectOk(await shop.get<Endpoint>(path), 200).url).toBe(endpoint.url);
    expect(expectOk(await shop.get<Endpoint[]>("/webhooks"), 200)).toHaveLength(1);
  });
});

describe("events", () => {
  test("are polled from a cursor, oldest first, without repeats or gaps", async () => {
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

  test("are listed by invoice and type, newest first, and read by id only by their own merchant", async () => {
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

  test.skipIf(!isExampleTested(language))(
    "handles exactly once each event that was sent while it was down",
    async () => {
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
    },
  );
});
