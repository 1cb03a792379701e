// A merchant's customer records (decisions 10): they are created and changed by email, searched, summarized, and erased without losing the ledger.
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { customerBody, customerListBody, salesSummaryBody } from "../../../src/commerce/customers/contract.ts";
import type { CustomerId } from "../../../src/lib/ids.ts";
import { auditEvents } from "../../../src/platform/db/schema/audit-events.ts";
import { customers } from "../../../src/platform/db/schema/customers.ts";
import { seedKey } from "../../support/access.ts";
import { sendBeaten } from "../../support/before-write.ts";
import { expectDocumented } from "../../support/documented.ts";
import { freshMerchant, testDb } from "../../support/worker-merchant.ts";
import { entriesAbout } from "./audit-harness.ts";
import { ADA, customersOf, invoiced, recorded } from "./customers-harness.ts";

const UNKNOWN_ID = "cus_01ARZ3NDEKTSV4RRFFQ69G5FAV";

const NOTHING = { email: null, name: null, address: null, phoneNumber: null, metadata: null };

describe("a customer", () => {
  it("is returned with exactly the documented fields, and read back the same", async () => {
    const shop = await freshMerchant();
    const customer = await recorded(shop, ADA);
    expect(customer).toEqual({
      id: expect.stringMatching(/^cus_[0-9A-Z]{26}$/),
      merchantId: shop.merchantId,
      ...ADA,
      createdAt: customer.createdAt,
      updatedAt: customer.createdAt,
      deletedAt: null,
    });
    expect((await shop.get(`/customers/${customer.id}`)).body).toEqual({ ...customer, location: null });
    expect((await shop.get("/customers")).body.data).toEqual([customer]);
  });

  it("matches the documented schema, alone, in a list, in a summary and when deleted", async () => {
    const shop = await freshMerchant();
    const customer = await recorded(shop, ADA);
    expectDocumented(customerBody, customer);
    expectDocumented(customerListBody, (await shop.get("/customers")).body);
    expectDocumented(salesSummaryBody, (await shop.get(`/customers/${customer.id}/resume`)).body);
    expectDocumented(customerBody, (await shop.delete(`/customers/${customer.id}`)).body);
  });

  it("with a known email is updated with the given fields, keeps the rest, and is answered with 200", async () => {
    const shop = await freshMerchant();
    const before = await recorded(shop, ADA);
    const given = { email: "ADA@shop.example", name: "Ada L.", phoneNumber: null };
    const after = await recorded(shop, given, 200);
    expect(after).toEqual({ ...before, ...given, updatedAt: after.updatedAt });
    expect(await recorded(shop, given, 200)).toEqual(after);
    expect(await customersOf(shop)).toHaveLength(1);
    expect((await entriesAbout(shop, before.id)).map(([action]) => action)).toEqual([
      "customer.created",
      "customer.updated",
    ]);
  });

  it("without an email is a new one each time", async () => {
    const shop = await freshMerchant();
    const made = [await recorded(shop, { name: "Ada" }), await recorded(shop, { name: "Ada" })];
    expect(new Set(made.map(({ id }) => id)).size).toBe(2);
  });

  it("is created only once when many requests send the same new email at once, and gets all their fields", async () => {
    const shop = await freshMerchant();
    const given = [{ name: "Ada" }, { address: "1 Long Road" }, { phoneNumber: "+49 1" }, { metadata: { a: "b" } }];
    const answers = await Promise.all(given.map((each) => shop.post("/customers", { email: "a@b.example", ...each })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 201]);
    expect(await customersOf(shop)).toMatchObject([
      { name: "Ada", address: "1 Long Road", phoneNumber: "+49 1", metadata: '{"a":"b"}' },
    ]);
  });

  it("is created once under one Idempotency-Key, and repeats get the same 201 response", async () => {
    const shop = await freshMerchant();
    const headers = { "idempotency-key": "ada" };
    const first = await shop.post("/customers", ADA, headers);
    await shop.patch(`/customers/${first.body.id}`, { name: "Another" });
    const again = await shop.post("/customers", ADA, headers);
    expect([again.status, again.text]).toEqual([201, first.text]);
    expect((await shop.get(`/customers/${first.body.id}`)).body.name).toBe("Another");
  });

  it.each([
    ["no fields", {}],
    ["only null fields", { name: null }],
    ["an invalid email", { email: "ada" }],
    ["an empty name", { name: "" }],
    ["a name of 201 characters", { name: "🏦".repeat(201) }],
    ["an address of 501 characters", { address: "x".repeat(501) }],
    ["a phone number of 51 characters", { phoneNumber: "1".repeat(51) }],
    ["metadata that is not text", { metadata: { a: 1 } }],
    ["51 metadata keys", { metadata: Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`k${n}`, ""])) }],
    ["metadata of 8,193 bytes", { metadata: { a: "x".repeat(8_193 - '{"a":""}'.length) } }],
    ["an unknown field", { vat: "1" }],
  ])("is refused with %s", async (_, body) => {
    const shop = await freshMerchant();
    const answer = await shop.post("/customers", body);
    expect([answer.status, answer.body.code], answer.text).toEqual([400, "VALIDATION_FAILED"]);
    expect(await customersOf(shop)).toEqual([]);
  });

  it("may have metadata with 50 keys and 8,192 bytes", async () => {
    const shop = await freshMerchant();
    const { id } = await recorded(shop, ADA);
    for (const metadata of [
      Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`k${n}`, ""])),
      { a: "x".repeat(8_192 - '{"a":""}'.length) },
    ]) {
      expect((await shop.patch(`/customers/${id}`, { metadata })).body.metadata).toEqual(metadata);
    }
  });
});

describe("a change to a customer", () => {
  it("sets the given fields, clears those that are null, and writes nothing when nothing changes", async () => {
    const shop = await freshMerchant();
    const before = await recorded(shop, ADA);
    const change = { email: "lovelace@shop.example", address: null, metadata: null };
    const answer = await shop.patch(`/customers/${before.id}`, change);
    expect([answer.status, answer.body], answer.text).toEqual([
      200,
      { ...before, ...change, updatedAt: answer.body.updatedAt },
    ]);
    expect((await shop.patch(`/customers/${before.id}`, change)).body).toEqual(answer.body);
    expect((await shop.patch(`/customers/${before.id}`, {})).status).toBe(400);
    expect(await entriesAbout(shop, before.id)).toHaveLength(2);
    expect((await recorded(shop, { email: "LOVELACE@shop.example" }, 200)).id).toBe(before.id);
    expect((await recorded(shop, { email: ADA.email })).id).not.toBe(before.id);
  });

  it("that sets another customer's email is refused with that customer's id; its own email in a different case is accepted", async () => {
    const shop = await freshMerchant();
    const [ada, bob] = [await recorded(shop, ADA), await recorded(shop, { email: "bob@shop.example" })];
    const refused = await shop.patch(`/customers/${bob.id}`, { email: "ADA@SHOP.example" });
    expect([refused.status, refused.body.code, refused.body.customerId]).toEqual([
      409,
      "CUSTOMER_EMAIL_EXISTS",
      ada.id,
    ]);
    expect((await shop.patch(`/customers/${ada.id}`, { email: "ADA@SHOP.example" })).body.email).toBe(
      "ADA@SHOP.example",
    );
  });

  it("that sets the same email for many customers at once succeeds for one; the others are refused with that customer's id", async () => {
    const shop = await freshMerchant();
    const made = await Promise.all(Array.from({ length: 5 }, (_, n) => recorded(shop, { name: `Ada ${n}` })));
    const answers = await Promise.all(made.map(({ id }) => shop.patch(`/customers/${id}`, { email: ADA.email })));
    const [winner, ...others] = answers.sort((a, b) => a.status - b.status);
    expect(winner?.status).toBe(200);
    for (const { status, body } of others) expect([status, body.customerId]).toEqual([409, winner?.body.id]);
  });

  it("keeps all fields despite a concurrent change and a concurrent invoice that names the customer", async () => {
    const shop = await freshMerchant();
    const { id, email } = await recorded(shop, ADA);
    for (let round = 0; round < 10; round++) {
      const [named, reached] = await Promise.all([
        shop.patch(`/customers/${id}`, { name: `Ada ${round}` }),
        shop.patch(`/customers/${id}`, { metadata: { round: String(round) } }),
        invoiced(shop, { customerEmail: email, customerPhoneNumber: `+49 ${round}` }),
      ]);
      expect([named.status, reached.status]).toEqual([200, 200]);
      expect((await shop.get(`/customers/${id}`)).body).toMatchObject({
        name: `Ada ${round}`,
        metadata: { round: String(round) },
        phoneNumber: `+49 ${round}`,
      });
    }
  });

  it("is answered with the same 404 for another merchant's customer, an unknown id and a malformed one", async () => {
    const [shop, other] = [await freshMerchant(), await freshMerchant()];
    const { id } = await recorded(other, ADA);
    for (const each of [id, UNKNOWN_ID, "ada"]) {
      for (const answer of [
        await shop.get(`/customers/${each}`),
        await shop.get(`/customers/${each}/resume`),
        await shop.patch(`/customers/${each}`, { name: "Mine" }),
        await shop.delete(`/customers/${each}`),
      ])
        expect([answer.status, answer.body.code]).toEqual([404, "CUSTOMER_NOT_FOUND"]);
    }
    expect((await recorded(shop, { email: ADA.email })).id).not.toBe(id);
    expect((await other.get(`/customers/${id}`)).body.name).toBe("Ada");
  });
});

describe("the list of customers", () => {
  it("comes in pages without gaps or repetitions, with a count when a page number is requested", async () => {
    const shop = await freshMerchant();
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) ids.push((await recorded(shop, { name: `Ada ${n}` })).id);
    const seen: string[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const { body } = await shop.get(`/customers?limit=2&cursor=${cursor}`);
      seen.push(...body.data.map(({ id }: { id: string }) => id));
      cursor = body.nextCursor;
    }
    expect([...seen].sort()).toEqual([...ids].sort());
    const { body } = await shop.get("/customers?page=2&limit=2");
    expect(body.pagination).toEqual({ page: 2, limit: 2, total: 5, lastPage: 3 });
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual(seen.slice(2, 4));
    expect((await shop.get("/customers?cursor=x")).status).toBe(400);
  });

  it("is searched by a name's prefix, a whole email in upper or lower case, or a whole id", async () => {
    const shop = await freshMerchant();
    const ada = await recorded(shop, { email: "Ada@shop.example", name: "Ada" });
    await recorded(shop, { email: "b@shop.example", name: "Adam" });
    await recorded(shop, { name: "Bob, friend of Ada" });
    const gone = await recorded(shop, { email: "gone@shop.example", name: "Ada the Gone" });
    await shop.delete(`/customers/${gone.id}`);
    const found = async (text: string) =>
      (await shop.get(`/customers?search=${encodeURIComponent(text)}`)).body.data
        .map(({ name }: { name: string }) => name)
        .sort();
    expect(await found("Ada")).toEqual(["Ada", "Adam"]);
    expect(await found("ADA@SHOP.EXAMPLE")).toEqual(["Ada"]);
    expect(await found("Ada@shop")).toEqual([]);
    expect(await found(ada.id)).toEqual(["Ada"]);
    for (const text of [gone.id, "gone@shop.example", "ada"]) expect(await found(text)).toEqual([]);
    expect((await shop.get("/customers?search=Ada&page=1")).body.pagination.total).toBe(2);
  });
});

describe("a deleted customer", () => {
  it("stays as a row without personal data, and is shown like that on its invoices", async () => {
    const shop = await freshMerchant();
    const customer = await recorded(shop, ADA);
    const invoice = await invoiced(shop, { customerEmail: ADA.email });
    const answer = await shop.delete(`/customers/${customer.id}`);
    const { deletedAt, updatedAt } = answer.body;
    expect([answer.status, answer.body], answer.text).toEqual([200, { ...customer, ...NOTHING, deletedAt, updatedAt }]);
    expect(Date.parse(deletedAt)).toBeGreaterThan(0);
    expect(await customersOf(shop)).toMatchObject([{ id: customer.id, ...NOTHING, emailKey: null }]);
    const { metadata: _, ...shown } = NOTHING;
    expect((await shop.get(`/invoices/${invoice.id}`)).body).toEqual({
      ...invoice,
      customer: { ...invoice.customer, ...shown, updatedAt },
    });
    expect((await shop.get(`/invoices?customerId=${customer.id}`)).body.data).toHaveLength(1);
    for (const gone of [
      await shop.get(`/customers/${customer.id}`),
      await shop.patch(`/customers/${customer.id}`, { name: "Ada" }),
      await shop.delete(`/customers/${customer.id}`),
      await shop.get(`/customers/${customer.id}/resume`),
    ])
      expect([gone.status, gone.body.code]).toEqual([404, "CUSTOMER_NOT_FOUND"]);
    expect((await shop.get("/customers")).body.data).toEqual([]);
  });

  it("stays in the audit log by id and field names only", async () => {
    const shop = await freshMerchant();
    const { id } = await recorded(shop, ADA);
    await shop.patch(`/customers/${id}`, { name: "Countess", metadata: { tier: "iron" } });
    await shop.delete(`/customers/${id}`);
    const fields = ["email", "name", "address", "phoneNumber", "metadata"];
    expect(await entriesAbout(shop, id)).toEqual([
      ["customer.created", null, { fields }],
      ["customer.updated", null, { fields: ["name", "metadata"] }],
      ["customer.deleted", { fields }, null],
    ]);
    const rows = await testDb.select().from(auditEvents).where(eq(auditEvents.merchantId, shop.merchantId));
    for (const word of ["Ada", "Countess", "shop.example", "Long Road", "+49", "gold", "iron"]) {
      expect(JSON.stringify(rows)).not.toContain(word);
    }
  });

  it("is not reused for the same email, in an invoice or a new record", async () => {
    const shop = await freshMerchant();
    const first = await recorded(shop, ADA);
    await shop.delete(`/customers/${first.id}`);
    const invoice = await invoiced(shop, { customerEmail: ADA.email });
    expect(invoice.customer).toMatchObject({ email: ADA.email, name: null });
    await shop.delete(`/customers/${invoice.customerId}`);
    const third = await recorded(shop, { email: ADA.email });
    expect(new Set([first.id, invoice.customerId, third.id]).size).toBe(3);
  });

  it.each([
    ["a name", { customerName: "Ada again" }],
    ["an email", { customerEmail: "again@shop.example", customerName: "Ada again" }],
    ["the same email", { customerEmail: ADA.email, customerName: "Ada again" }],
  ])("does not get %s when its invoice is changed; a new customer does", async (_, change) => {
    const shop = await freshMerchant();
    const { id } = await recorded(shop, ADA);
    const invoice = await invoiced(shop, { customerEmail: ADA.email });
    await shop.delete(`/customers/${id}`);
    const changed = await shop.patch(`/invoices/${invoice.id}`, change);
    expect([changed.status, changed.body.customer?.name], changed.text).toEqual([200, "Ada again"]);
    expect(changed.body.customerId).not.toBe(id);
    const [erased] = await testDb
      .select()
      .from(customers)
      .where(eq(customers.id, id as CustomerId));
    expect(erased).toMatchObject({ ...NOTHING, emailKey: null });
  });

  describe("that was deleted between the reads and the batch of a request", () => {
    const given = { customerName: "Ada again", customerAddress: "2 Short Road" };

    it.each([
      ["an invoice with more fields", "POST", "/invoices", { ...given, customerEmail: ADA.email }, 201],
      ["an invoice with the email only", "POST", "/invoices", { customerEmail: ADA.email }, 201],
      ["a change to an invoice", "PATCH", "/invoices/:invoiceId", given, 200],
      [
        "a change to an invoice with the email",
        "PATCH",
        "/invoices/:invoiceId",
        { ...given, customerEmail: ADA.email },
        200,
      ],
      ["an upsert", "POST", "/customers", { email: ADA.email, name: "Ada again" }, 201],
      ["an upsert without new fields", "POST", "/customers", { email: ADA.email, name: ADA.name }, 201],
    ] as const)("is not changed by %s, which creates a new customer", async (_, method, rest, body, status) => {
      const shop = await freshMerchant();
      const key = await seedKey(shop.merchantId, { lastUsedAtMs: Date.now() });
      const { id } = await recorded(shop, ADA);
      const invoice = await invoiced(shop, { customerEmail: ADA.email });
      const path = `/api/v1/merchants/merchant/${shop.merchantId}${rest.replace(":invoiceId", invoice.id)}`;
      const fields = rest === "/invoices" ? { name: "Order", rawAmount: 1, ...body } : body;
      const deleted = async () => expect((await shop.delete(`/customers/${id}`)).status).toBe(200);
      const answer = await sendBeaten(path, { method, key, body: fields }, deleted);
      expect(answer.status, answer.text).toBe(status);
      const rows = await customersOf(shop);
      expect(rows.filter((row) => row.deletedAtMs !== null)).toMatchObject([{ id, ...NOTHING, emailKey: null }]);
      const [made, ...more] = rows.filter((row) => row.deletedAtMs === null);
      expect(more).toEqual([]);
      expect(answer.json?.customerId ?? answer.json?.id).toBe(made?.id);
    });

    it.each([
      ["PATCH", { name: "Ada again" }],
      ["DELETE", undefined],
    ] as const)("is not found by a %s", async (method, body) => {
      const shop = await freshMerchant();
      const key = await seedKey(shop.merchantId, { lastUsedAtMs: Date.now() });
      const { id } = await recorded(shop, ADA);
      const path = `/api/v1/merchants/merchant/${shop.merchantId}/customers/${id}`;
      const answer = await sendBeaten(path, { method, key, body }, () => shop.delete(`/customers/${id}`));
      expect([answer.status, answer.json?.code]).toEqual([404, "CUSTOMER_NOT_FOUND"]);
      expect(await customersOf(shop)).toMatchObject([{ id, ...NOTHING }]);
      expect(await entriesAbout(shop, id)).toHaveLength(2);
    });
  });

  it("has no personal data left, whatever requests create invoices or change the customer during the deletion", async () => {
    for (let round = 0; round < 12; round++) {
      const shop = await freshMerchant();
      const { id, email } = await recorded(shop, ADA);
      const known = await invoiced(shop, { customerEmail: email });
      const given = { customerEmail: email, customerName: `Ada ${round}`, customerAddress: "2 Short Road" };
      const [deleted, ...others] = await Promise.all([
        shop.delete(`/customers/${id}`),
        shop.post("/invoices", { name: "Order", rawAmount: 10, ...given }),
        shop.post("/invoices", { name: "Order", rawAmount: 10, customerEmail: email }),
        shop.patch(`/invoices/${known.id}`, { customerName: "Ada changed" }),
        shop.post("/customers", { email, phoneNumber: "+49 2" }),
        shop.patch(`/customers/${id}`, { name: "Ada patched" }),
      ]);
      expect(deleted.status, deleted.text).toBe(200);
      for (const { status, text } of others) expect([200, 201, 404], text).toContain(status);
      const rows = await customersOf(shop);
      const [erased, ...live] = rows.sort((a, b) => Number(a.deletedAtMs === null) - Number(b.deletedAtMs === null));
      expect(erased).toMatchObject({ id, ...NOTHING, emailKey: null });
      expect(live.every((row) => row.deletedAtMs === null)).toBe(true);
    }
  });
});
