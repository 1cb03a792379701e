// Interface 2.2 and decisions 4: an invoice's customer, who is recognized by their email address.
import { describe, expect, test } from "vitest";
import { atOnce, createInvoice, expectOk, expectRefusal, shop, stranger, unique } from "./client.ts";
import { type Invoice, idOf } from "./shapes.ts";

const mailbox = () => `${unique("Ann")}@Example.com`;

describe("the customer of an invoice", () => {
  test("is null, like customerId, when the request has no customer fields", async () => {
    expect(await createInvoice(shop)).toMatchObject({ customer: null, customerId: null });
  });

  test("is the same for the same email address in any letter case", async () => {
    const customerEmail = mailbox();
    const first = await createInvoice(shop, { customerEmail });
    const second = await createInvoice(shop, { customerEmail: customerEmail.toUpperCase() });
    expect(first.customerId).toMatch(idOf("cus"));
    expect(second.customerId).toBe(first.customerId);
    expect(second.customer?.email?.toLowerCase()).toBe(customerEmail.toLowerCase());
  });

  test("is updated with the fields that a later invoice gives, and keeps its other fields", async () => {
    const customerEmail = mailbox();
    const first = await createInvoice(shop, { customerEmail, customerName: "Ann", customerAddress: "1 Old Street" });
    await createInvoice(shop, { customerEmail, customerAddress: "2 New Street", customerPhoneNumber: "555" });
    const { customer } = expectOk(await shop.get<Invoice>(`/invoices/${first.id}`), 200);
    expect(customer).toMatchObject({ name: "Ann", address: "2 New Street", phoneNumber: "555" });
  });

  test("is a new customer every time when no email is given", async () => {
    const first = await createInvoice(shop, { customerName: "Ann" });
    const second = await createInvoice(shop, { customerName: "Ann" });
    expect(first.customer).toEqual({
      id: first.customerId,
      merchantId: first.merchantId,
      email: null,
      name: "Ann",
      address: null,
      phoneNumber: null,
      createdAt: first.createdAt,
      updatedAt: first.createdAt,
    });
    expect(second.customerId).not.toBe(first.customerId);
  });

  test("can be read by id; its location is null until a checkout page is opened", async () => {
    const { customerId, customer } = await createInvoice(shop, { customerEmail: mailbox(), customerName: "Ann" });
    const read = expectOk(await shop.get(`/customers/${customerId}`), 200);
    expect(read).toMatchObject({ ...customer, location: null });
  });

  test("is the same in a create and a change as on the customer's own route, times included", async () => {
    const customerEmail = mailbox();
    const answers = [
      await createInvoice(shop, { customerEmail, customerName: "Ann" }),
      await createInvoice(shop, { customerEmail, customerName: "Ann" }),
      await createInvoice(shop, { customerEmail, customerName: "Beth" }),
    ];
    const [{ id, customerId }] = answers as [Invoice, Invoice, Invoice];
    answers.push(expectOk(await shop.patch<Invoice>(`/invoices/${id}`, { customerPhoneNumber: "555" }), 200));
    const { customer } = expectOk(await shop.get<Invoice>(`/invoices/${id}`), 200);
    expect(answers.at(-1)?.customer).toEqual(customer);
    expect(expectOk(await shop.get(`/customers/${customerId}`), 200)).toMatchObject({ ...customer });
    const [first, same, renamed, changed] = answers.map((answer) => answer.customer);
    expect(same).toEqual(first);
    expect([renamed, changed].map((each) => each?.createdAt)).toEqual([first?.createdAt, first?.createdAt]);
    expect(renamed?.updatedAt).toBe(answers[2]?.createdAt);
  });

  test.each(["customerAddress", "customerPhoneNumber"])("is created when only %s is given", async (field) => {
    expect((await createInvoice(shop, { [field]: "x" })).customerId).toMatch(idOf("cus"));
  });

  test("of one merchant is not shared with another", async () => {
    const customerEmail = mailbox();
    const mine = await createInvoice(shop, { customerEmail, customerName: "Ann" });
    const theirs = await createInvoice(stranger, { customerEmail });
    expect(theirs.customerId).not.toBe(mine.customerId);
    expect(theirs.customer?.name).toBeNull();
  });

  test("is a single customer when twenty invoices for a new email address are created at once", async () => {
    const customerEmail = mailbox();
    const invoices = await atOnce(20, (index) => createInvoice(shop, { customerEmail, customerName: `Ann ${index}` }));
    expect(new Set(invoices.map((invoice) => invoice.customerId)).size).toBe(1);
  });

  test.each(["ann", "ann@", "@example.com", "a b@example.com", "ann@exa mple.com", "", "ann@@example.com"])(
    "is refused with the email address %j",
    async (customerEmail) => {
      expectRefusal(await shop.post("/invoices", { name: "Order", rawAmount: 1, customerEmail }), 400);
    },
  );

  test.each(["customerEmail", "customerName", "customerAddress", "customerPhoneNumber"])(
    "is refused if %s is not text",
    async (field) => {
      expectRefusal(await shop.post("/invoices", { name: "Order", rawAmount: 1, [field]: 7 }), 400);
    },
  );
});
