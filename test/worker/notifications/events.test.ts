// The events API: events can be reread in commit order, and polled without missing any.
import { env, exports } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { EVENT_TEXTS } from "../../../scripts/event-texts.ts";
import type { InvoiceId, MerchantId } from "../../../src/lib/ids.ts";
import { webhookSecret } from "../../../src/notifications/webhooks/secret.ts";
import { signedHeaders } from "../../../src/notifications/webhooks/signature.ts";
import { commit } from "../../../src/platform/db/batch.ts";
import { eventBody } from "../../../src/platform/events/contract.ts";
import { type EventType, eventText } from "../../../src/platform/events/event.ts";
import { recordOutbox, selectEventPage, selectMerchantEvent, selectPlace } from "../../../src/platform/events/store.ts";
import { BTC, xpubWallet } from "../../support/wallet-bodies.ts";
import { freshId, freshMerchant, testDb } from "../../support/worker-merchant.ts";

interface Written {
  readonly type?: EventType;
  readonly invoiceId?: InvoiceId;
  readonly sequence?: number;
  readonly createdAtMs?: number;
}

interface SentHeader {
  readonly name: string;
  readonly in: string;
  readonly description: string;
}

/** Writes events in this order, each in its own batch. */
async function write(merchantId: MerchantId, of: readonly Written[]) {
  const rows = of.map(({ type = "invoice.paid", invoiceId, sequence, createdAtMs = Date.now() }, n) => ({
    id: freshId("evt"),
    merchantId,
    type,
    invoiceId: invoiceId ?? null,
    createdAtMs,
    sequence: invoiceId === undefined ? null : (sequence ?? n + 1),
    data: `{ "n":${n}}`,
  }));
  for (const row of rows) {
    const [first, ...more] = recordOutbox(testDb, [row]);
    if (first !== undefined) await commit(testDb, [first, ...more]);
  }
  return rows;
}

const idsIn = (body: { readonly data: readonly { readonly id: string }[] }) => body.data.map(({ id }) => id);
const ids = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id);

describe("an event", () => {
  it("is returned as exactly the text that is delivered, and to its own merchant only", async () => {
    const [one, other] = [await freshMerchant(), await freshMerchant()];
    const [row] = await write(one.merchantId, [{ type: "invoice.expired", invoiceId: freshId("inv") }]);
    const answer = await one.get(`/events/${row?.id}`);
    expect(answer).toMatchObject({ status: 200, text: row && eventText(row) });
    expect(answer.body).toMatchObject({ event: "invoice.expired", apiVersion: "v1", sequence: 1, data: { n: 0 } });
    for (const id of [row?.id, "evt_0", "x"])
      expect(await other.get(`/events/${id}`)).toMatchObject({ status: 404, body: { code: "EVENT_NOT_FOUND" } });
    expect((await other.get("/events")).body).toEqual({ data: [], nextCursor: null });
  });
});

describe("a recorded event", () => {
  it("has exactly the data members that the catalogue names for its type", async () => {
    const shop = await freshMerchant();
    const made = await shop.post("/wallets", xpubWallet());
    const wallet = `/wallets/${made.body.id}`;
    await shop.patch(wallet, { requiredConfirmations: 3 });
    const { body: invoice } = await shop.post("/invoices", { name: "One", rawAmount: 5, paymentMethods: [BTC] });
    await shop.patch(`/invoices/${invoice.id}`, { name: "Two" });
    await shop.post(`/invoices/${invoice.id}/cancel`);
    await shop.delete(wallet);
    const { body } = await shop.get("/events?limit=100&after=0");
    const types: string[] = [];
    for (const { type, data } of body.data as { type: EventType; data: object }[]) {
      types.push(type);
      const named = Object.keys(EVENT_TEXTS[type].data);
      const missing = named.filter((name) => !name.endsWith("?") && !(name in data));
      const unknown = Object.keys(data).filter((name) => !named.includes(name) && !named.includes(`${name}?`));
      expect([type, missing, unknown]).toEqual([type, [], []]);
    }
    const expected = ["wallet.created", "wallet.updated", "invoice.created", "payment.created", "invoice.updated"];
    expect(types).toEqual([...expected, "invoice.cancelled", "wallet.deleted"]);
  });
});

describe("the OpenAPI document", () => {
  it("describes a webhook request with the same schema as the API's events", async () => {
    const document = await (await exports.default.fetch(new Request("http://localhost:8787/openapi.json"))).json();
    const schema = { $ref: "#/components/schemas/Event" };
    expect(document).toMatchObject({
      webhooks: { event: { post: { requestBody: { content: { "application/json": { schema } } } } } },
      components: { schemas: { Event: { type: "object" } } },
    });
    const [row] = await write(freshId("mer"), [{}]);
    const sent: unknown = JSON.parse(row === undefined ? "" : eventText(row));
    expect(eventBody().strict().parse(sent)).toEqual(sent);
  });

  it("names and describes each of our headers on a webhook request", async () => {
    const answer = await exports.default.fetch(new Request("http://localhost:8787/openapi.json"));
    const { webhooks } = await answer.json<{ webhooks: { event: { post: { parameters: readonly SentHeader[] } } } }>();
    const { parameters } = webhooks.event.post;
    const of = { eventId: "evt_", deliveryId: "dlv_", webhookId: "whk_", body: "{}", timestampSeconds: 0 };
    const sent = await signedHeaders({ ...of, secrets: [webhookSecret(new Uint8Array(32))] });
    const ours = Object.keys(sent).filter((name) => !["content-type", "user-agent"].includes(name));
    expect(parameters.map(({ name }) => name)).toEqual(ours);
    expect(parameters.filter((each) => each.in !== "header" || each.description === "")).toEqual([]);
  });
});

describe("a list of events", () => {
  it("is paginated, newest first in the order of commits", async () => {
    const shop = await freshMerchant();
    const rows = await write(shop.merchantId, [{}, { createdAtMs: 1 }, {}, { createdAtMs: Date.now() + 1e6 }, {}]);
    const seen: string[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const page = await shop.get(`/events?limit=2${cursor && `&cursor=${cursor}`}`);
      expect(page.body.data.length).toBeLessThanOrEqual(2);
      seen.push(...idsIn(page.body));
      cursor = page.body.nextCursor;
    }
    expect(seen).toEqual(ids(rows).toReversed());
    expect((await shop.get(`/events/${rows[0]?.id}`)).text).toBe(
      JSON.stringify((await shop.get("/events")).body.data[4]).replace('{"n"', '{ "n"'),
    );
  });

  it.each([
    ["a type", "?type=invoice.paid", [0, 3]],
    ["a domain", "?type=invoice.*", [0, 1, 3]],
    ["all types", "?type=*", [0, 1, 2, 3]],
    ["an invoice", "?invoiceId=INV", [0, 1]],
    ["a type and an invoice", "?invoiceId=INV&type=invoice.expired", [1]],
    ["a domain without events for the invoice", "?invoiceId=INV&type=wallet.*", []],
  ] as const)("can be filtered by %s, from either end", async (_, query, expected) => {
    const shop = await freshMerchant();
    const invoiceId = freshId("inv");
    const rows = await write(shop.merchantId, [
      { type: "invoice.paid", invoiceId } as const,
      { type: "invoice.expired", invoiceId } as const,
      { type: "ping" } as const,
      { type: "invoice.paid", invoiceId: freshId("inv") } as const,
    ]);
    const path = `/events${query.replace("INV", invoiceId)}`;
    const wanted = expected.map((n) => rows[n]?.id);
    expect(idsIn((await shop.get(path)).body)).toEqual(wanted.toReversed());
    expect(idsIn((await shop.get(`${path}&after=0`)).body)).toEqual(wanted);
    const behindFirst = await shop.get(`${path}&after=${rows[0]?.id}`);
    expect(idsIn(behindFirst.body)).toEqual(wanted.filter((id) => id !== rows[0]?.id));
  });

  it.each([
    ["?type=invoice.payed", "type"],
    ["?cursor=x", "cursor"],
    ["?cursor=x&after=0", "cursor"],
    ["?limit=0", "limit"],
  ])("refuses %s", async (query, path) => {
    const shop = await freshMerchant();
    const answer = await shop.get(`/events${query}`);
    expect(answer).toMatchObject({ status: 400, body: { code: "VALIDATION_FAILED", details: [{ path }] } });
  });
});

describe("a poller", () => {
  it("that continues from each response's cursor gets every event once, even one with an earlier time", async () => {
    const shop = await freshMerchant();
    const seen: string[] = [];
    let after = "0";
    const poll = async () => {
      for (let isFull = true; isFull; ) {
        const { body } = await shop.get(`/events?limit=2&after=${after}`);
        seen.push(...idsIn(body));
        after = body.nextCursor;
        isFull = body.data.length === 2;
      }
    };
    await poll();
    expect([seen, after]).toEqual([[], "0"]);
    const first = await write(shop.merchantId, [{}, {}, {}, {}, {}]);
    await poll();
    const late = await write(shop.merchantId, [{ createdAtMs: Date.now() - 60_000 }]);
    await poll();
    await poll();
    expect(seen).toEqual(ids([...first, ...late]));
    expect(after).toBe(late[0]?.id);
  });

  it("for a rare type gets a cursor that advances, but never past an unread event of that type", async () => {
    const shop = await freshMerchant();
    const rows = await write(shop.merchantId, [{ type: "ping" }, {}, {}, { type: "ping" }, { type: "ping" }, {}]);
    const path = (after: string) => `/events?type=ping&limit=2&after=${after}`;
    const { body: full } = await shop.get(path("0"));
    expect([idsIn(full), full.nextCursor]).toEqual([[rows[0]?.id, rows[3]?.id], rows[3]?.id]);
    const { body: last } = await shop.get(path(full.nextCursor));
    expect([idsIn(last), last.nextCursor]).toEqual([[rows[4]?.id], rows[5]?.id]);
    expect((await shop.get(path(last.nextCursor))).body).toEqual({ data: [], nextCursor: rows[5]?.id });
  });

  it("is refused as EVENT_NOT_FOUND if its cursor's event is gone or another merchant's", async () => {
    const [shop, other] = [await freshMerchant(), await freshMerchant()];
    const [foreign] = await write(other.merchantId, [{}]);
    for (const after of [freshId("evt"), foreign?.id, "x"])
      expect(await shop.get(`/events?after=${after}`)).toMatchObject({
        status: 404,
        body: { code: "EVENT_NOT_FOUND" },
      });
  });
});

describe("reading events", () => {
  const NOISE = 400;

  it.each([
    ["a page", {}, 21, "events_listed"],
    ["a page after another", { before: 200 }, 22, "events_listed"],
    ["events after one", { after: 200 }, 22, "events_listed"],
    ["a page of a type", { types: ["ping"] }, 21, "events_of_type"],
    ["a page of two types, after another", { types: ["ping", "invoice.paid"], before: 350 }, 180, "events_of_type"],
    ["events of an invoice after one", { after: 200, isOfInvoice: true }, 25, "events_lock"],
    ["a page of an invoice", { isOfInvoice: true }, 25, "events_lock"],
  ] as const)("(%s) reads only a bounded part of an index", async (_, of, mostRows, index) => {
    const merchantId = freshId("mer");
    const invoiceId = freshId("inv");
    await env.DB.prepare(
      `insert into events (id, merchant_id, type, invoice_id, sequence, data, created_at_ms)
        with recursive n(i) as (select 0 union all select i + 1 from n where i + 1 < ?1)
        select ?2 || i, ?3, case i % 2 when 0 then 'ping' else 'invoice.paid' end, ?4, i, '{}', i from n`,
    )
      .bind(NOISE, freshId("evt"), merchantId, invoiceId)
      .run();
    const all = await env.DB.prepare("select id from events where merchant_id = ? order by rowid")
      .bind(merchantId)
      .all<{ id: string }>();
    const { types, before, after, isOfInvoice } = {
      types: undefined,
      before: undefined,
      after: undefined,
      isOfInvoice: false,
      ...of,
    };
    const at = (n: number | undefined) => (n === undefined ? undefined : all.results[n]?.id);
    const page = {
      types,
      before: at(before),
      after: at(after),
      invoiceId: isOfInvoice ? invoiceId : undefined,
      limit: 21,
    };
    const { sql, params } = selectEventPage(testDb, merchantId, page).toSQL();
    const read = await env.DB.prepare(sql)
      .bind(...params)
      .all();
    expect(read.results).toHaveLength(21);
    expect(read.meta.rows_read).toBeLessThanOrEqual(mostRows);
    const plan = await env.DB.prepare(`explain query plan ${sql}`)
      .bind(...params)
      .all<{ detail: string }>();
    const details = plan.results.map(({ detail }) => detail).join("\n");
    expect(details).toMatch(new RegExp(`USING (COVERING )?INDEX ${index}`));
    expect(details).not.toMatch(/TEMP B-TREE FOR ORDER BY|SCAN (events|own)/);
  });

  it("one by one, or by a poller's cursor, reads at most three rows", async () => {
    const shop = await freshMerchant();
    const rows = await write(shop.merchantId, [{}, {}, {}, {}, {}, {}]);
    for (const query of [
      selectMerchantEvent(testDb, shop.merchantId, rows[1]?.id ?? ""),
      selectPlace(testDb, shop.merchantId, rows[1]?.id ?? ""),
    ]) {
      const { sql, params } = query.toSQL();
      const read = await env.DB.prepare(sql)
        .bind(...params)
        .all();
      expect(read.results).toHaveLength(1);
      expect(read.meta.rows_read).toBeLessThanOrEqual(3);
    }
  });
});
