// Interface 2.2 and decisions 4: the customer of an invoice, found again by their mailbox.
import { describe, expect, test } from "vitest";
import { atOnce, createInvoice, expectOk, expectRefusal, shop, stranger, unique } from "./client.ts";
import { type Invoice, idOf } from "./shapes.ts";

const mailbox = () => `${unique("Ann")}@Example.com`;

describe("the customer of an invoice", () => {
  test("is null, and so is customerId, when the request says nothing about one", async () => {
    expect(await createInvoice(shop)).toMatchObject({ customer: null, customerId: null });
  });

  test("is the same one for the same mailbox, whatever the case of its letters", async () => {
    const customerEmail = mailbox();
    const first = await createInvoice(shop, { customerEmail });
    const second = await createInvoice(shop, { customerEmail: customerEmail.toUpperCase() });
    expect(first.customerId).toMatch(idOf("cus"));
    expect(second.customerId).toBe(first.customerId);
    expect(second.customer?.email?.toLowerCase()).toBe(customerEmail.toLowerCase());
  });

  test("takes on the fields that a later invoice gives and keeps those it does not", async () => {
    const customerEmail = mailbox();
    const first = await createInvoice(shop, { customerEmail, customerName: "Ann", customerAddress: "1 Old Street" });
    await createInvoice(shop, { customerEmail, customerAddress: "2 New Street", customerPhoneNumber: "555" });
    const { customer } = expectOk(await shop.get<Invoice>(`/invoices/${first.id}`), 200);
    expect(customer).toMatchObject({ name: "Ann", address: "2 New Street", phoneNumber: "555" });
  });

  test("without a mailbox is a new one every time", async () => {
    const first = await createInvoice(shop, { customerName: "Ann" });
    const second = await createInvoice(shop, { customerName: "Ann" });
    expect(first.customer).toEqual({
      id: first.customerId,
      email: null,
      name: "Ann",
      address: null,
      phoneNumber: null,
    });
    expect(second.customerId).not.toBe(first.customerId);
  });

  test("is read by their id, with no location before a page of theirs was opened", async () => {
    const { customerId, customer } = await createInvoice(shop, { customerEmail: mailbox(), customerName: "Ann" });
    const read = expectOk(await shop.get(`/customers/${customerId}`), 200);
    expect(read).toMatchObject({ ...customer, location: null });
  });

  test.each(["customerAddress", "customerPhoneNumber"])("exists as soon as %s is given", async (field) => {
    expect((await createInvoice(shop, { [field]: "x" })).customerId).toMatch(idOf("cus"));
  });

  test("of one merchant is unknown to another", async () => {
    const customerEmail = mailbox();
    const mine = await createInvoice(shop, { customerEmail, customerName: "Ann" });
    const theirs = await createInvoice(stranger, { customerEmail });
    expect(theirs.customerId).not.toBe(mine.customerId);
    expect(theirs.customer?.name).toBeNull();
  });

  test("is one customer when twenty invoices for a new mailbox come at once", async () => {
    const customerEmail = mailbox();
    const invoices = await atOnce(20, (index) => createInvoice(shop, { customerEmail, customerName: `Ann ${index}` }));
    expect(new Set(invoices.map((invoice) => invoice.customerId)).size).toBe(1);
  });

  test.each(["ann", "ann@", "@example.com", "a b@example.com", "ann@exa mple.com", "", "ann@@example.com"])(
    "the mailbox %j is refused",
    async (customerEmail) => {
      expectRefusal(await shop.post("/invoices", { name: "Order", rawAmount: 1, customerEmail }), 400);
    },
  );

  test.each(["customerEmail", "customerName", "customerAddress", "customerPhoneNumber"])(
    "%s is text",
    async (field) => {
      expectRefusal(await shop.post("/invoices", { name: "Order", rawAmount: 1, [field]: 7 }), 400);
    },
  );
});
