// A merchant's customer is identified by email: data from several requests about one customer is merged (decisions 4, 7).
import { and, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { customers } from "../../../src/platform/db/schema/customers.ts";
import { freshMerchant, type TestMerchant, testDb } from "../../support/worker-merchant.ts";
import { customersOf, invoiced } from "./customers-harness.ts";

describe("a known customer", () => {
  it("keeps all fields of two invoices created at the same time", async () => {
    const shop = await freshMerchant();
    const customerEmail = "payer@shop.example";
    await invoiced(shop, { customerEmail, customerAddress: "1 Long Road" });
    for (let round = 0; round < 30; round++) {
      const [customerName, customerPhoneNumber] = [`Payer ${round}`, `+49 ${round}`];
      const [named, reached] = await Promise.all([
        invoiced(shop, { customerEmail, customerName }),
        invoiced(shop, { customerEmail, customerPhoneNumber }),
      ]);
      expect([named.customer.name, reached.customer.phoneNumber]).toEqual([customerName, customerPhoneNumber]);
      expect(await customersOf(shop)).toMatchObject([
        { id: named.customerId, name: customerName, phoneNumber: customerPhoneNumber, address: "1 Long Road" },
      ]);
    }
  });

  it("keeps all fields of two simultaneous invoice changes", async () => {
    const shop = await freshMerchant();
    const customerEmail = "payer@shop.example";
    const made = [await invoiced(shop, { customerEmail }), await invoiced(shop, { customerEmail })];
    for (let round = 0; round < 10; round++) {
      const fields = [{ customerName: `Payer ${round}` }, { customerPhoneNumber: `+49 ${round}` }];
      const answers = await Promise.all(fields.map((each, n) => shop.patch(`/invoices/${made[n].id}`, each)));
      expect(answers.map((answer) => answer.status)).toEqual([200, 200]);
      expect(await customersOf(shop)).toMatchObject([{ name: `Payer ${round}`, phoneNumber: `+49 ${round}` }]);
    }
  });

  it("is created only once when many requests send the same new email at once", async () => {
    const shop = await freshMerchant();
    const fields = Array.from({ length: 8 }, (_, n) => ({
      customerEmail: n % 2 ? "New@shop.example" : "new@shop.example",
    }));
    const made = await Promise.all(fields.map((each) => invoiced(shop, each)));
    expect(new Set(made.map((each) => each.customerId)).size).toBe(1);
    expect(await customersOf(shop)).toHaveLength(1);
  });
});

describe("the customer of an invoice", () => {
  it("without an email stays the same customer and keeps the name when an email is added", async () => {
    const shop = await freshMerchant();
    const { id, customerId } = await invoiced(shop, { customerName: "Ada", customerPhoneNumber: "+49 1" });
    const answer = await shop.patch(`/invoices/${id}`, { customerEmail: "Ada@shop.example" });
    expect([answer.status, answer.body.customerId], answer.text).toEqual([200, customerId]);
    expect(answer.body.customer).toMatchObject({ id: customerId, email: "Ada@shop.example", name: "Ada" });
    expect(await customersOf(shop)).toMatchObject([
      { id: customerId, emailKey: "ada@shop.example", name: "Ada", phoneNumber: "+49 1" },
    ]);
    // From now on the email finds this customer.
    expect((await invoiced(shop, { customerEmail: "ADA@shop.example" })).customerId).toBe(customerId);
  });

  it("without an email is replaced when the invoice gets another customer's email, and both customers keep their names", async () => {
    const shop = await freshMerchant();
    const known = await invoiced(shop, { customerEmail: "ada@shop.example", customerName: "Ada" });
    const nameless = await invoiced(shop, { customerName: "A. L." });
    const answer = await shop.patch(`/invoices/${nameless.id}`, { customerEmail: "ada@shop.example" });
    expect([answer.status, answer.body.customer?.name], answer.text).toEqual([200, "Ada"]);
    expect(answer.body.customerId).toBe(known.customerId);
    const names = (await customersOf(shop)).map(({ name, email }) => [name, email]);
    expect(new Map(names.map(([name, email]) => [name, email]))).toEqual(
      new Map([
        ["Ada", "ada@shop.example"],
        ["A. L.", null],
      ]),
    );
  });

  it("with an email is replaced by a new customer when the invoice gets an unknown email", async () => {
    const shop = await freshMerchant();
    const made = await invoiced(shop, { customerEmail: "ada@shop.example", customerName: "Ada" });
    const answer = await shop.patch(`/invoices/${made.id}`, { customerEmail: "bob@shop.example" });
    expect([answer.status, answer.body.customer], answer.text).toMatchObject([
      200,
      { email: "bob@shop.example", name: null },
    ]);
    expect(answer.body.customerId).not.toBe(made.customerId);
  });
});

describe("a deleted customer's email", () => {
  const erased = async (shop: TestMerchant, customerId: string) => {
    await testDb
      .update(customers)
      .set({ deletedAtMs: Date.now() })
      .where(and(eq(customers.merchantId, shop.merchantId), eq(customers.id, customerId as `cus_${string}`)));
  };

  it("creates a new customer, on a new invoice and in a change", async () => {
    const shop = await freshMerchant();
    const customerEmail = "gone@shop.example";
    const before = await invoiced(shop, { customerEmail, customerName: "Gone" });
    await erased(shop, before.customerId);
    const after = await invoiced(shop, { customerEmail });
    expect(after.customerId).not.toBe(before.customerId);
    expect(after.customer).toMatchObject({ email: customerEmail, name: null });
    expect((await invoiced(shop, { customerEmail, customerName: "Back" })).customerId).toBe(after.customerId);
    await erased(shop, after.customerId);
    const bare = await invoiced(shop, {});
    const changed = await shop.patch(`/invoices/${bare.id}`, { customerEmail });
    expect([changed.status, changed.body.customer?.email], changed.text).toEqual([200, customerEmail]);
    expect((await customersOf(shop)).map(({ deletedAtMs }) => deletedAtMs === null).sort()).toEqual([
      false,
      false,
      true,
    ]);
  });
});
