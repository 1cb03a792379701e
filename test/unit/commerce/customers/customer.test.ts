import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type CustomerChange,
  type CustomerRecord,
  changedColumns,
  customerEntry,
  differingFields,
  NOTHING_PERSONAL,
} from "../../../../src/commerce/customers/customer.ts";
import { type Sales, salesSummaryOf } from "../../../../src/commerce/customers/sales-summary.ts";
import type { AuditId } from "../../../../src/lib/ids.ts";
import { RUNS } from "../../../support/property-runs.ts";

const AUDIT_ID: AuditId = "aud_01ARZ3NDEKTSV4RRFFQ69G5FAV";
const ROW: CustomerRecord = {
  ...NOTHING_PERSONAL,
  id: "cus_01ARZ3NDEKTSV4RRFFQ69G5FAV",
  merchantId: "mer_01ARZ3NDEKTSV4RRFFQ69G5FAV",
  createdAtMs: 1,
  updatedAtMs: 1,
  deletedAtMs: null,
};

/** A word that is too long to occur in a field name. */
const word = fc.string({ minLength: 12, maxLength: 20 });
const text = fc.option(fc.option(word, { nil: null }), { nil: undefined });
const metadata = fc.option(fc.option(fc.dictionary(word, word), { nil: null }), { nil: undefined });
const change: fc.Arbitrary<CustomerChange> = fc.record({
  email: text,
  name: text,
  address: text,
  phoneNumber: text,
  metadata,
});
const row = change.map((each): CustomerRecord => ({ ...ROW, ...changedColumns(NOTHING_PERSONAL, each) }));

describe("a change to a customer", () => {
  it("sets the given fields and keeps the others", () => {
    fc.assert(
      fc.property(row, change, (before, each) => {
        const after = changedColumns(before, each);
        for (const name of ["email", "name", "address", "phoneNumber"] as const) {
          expect(after[name]).toBe(each[name] === undefined ? before[name] : each[name]);
        }
        expect(after.emailKey).toBe(after.email?.toLowerCase() ?? null);
        expect(differingFields(changedColumns({ ...before, ...after }, each), after)).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });

  it("is recorded in the audit log with the names of its fields only, never with their values", () => {
    fc.assert(
      fc.property(row, row, fc.boolean(), (before, after, isDeleted) => {
        const then = isDeleted ? { ...after, ...NOTHING_PERSONAL, deletedAtMs: 2 } : after;
        for (const from of [before, undefined]) {
          const text = JSON.stringify(customerEntry(AUDIT_ID, { before: from, after: then }));
          const values = [before, after].flatMap(({ email, name, address, phoneNumber }) => [
            email,
            name,
            address,
            phoneNumber,
          ]);
          for (const value of values) if (value !== null) expect(text).not.toContain(JSON.stringify(value));
        }
      }),
      { numRuns: RUNS },
    );
  });

  it.each([
    ["customer.created", undefined, { ...ROW, name: "Ada" }, { after: { fields: ["name"] } }],
    ["customer.updated", { ...ROW, name: "Ada" }, { ...ROW, email: "a" }, { after: { fields: ["email", "name"] } }],
    ["customer.deleted", { ...ROW, name: "Ada" }, { ...ROW, deletedAtMs: 2 }, { before: { fields: ["name"] } }],
  ] as const)("is recorded in the audit log as %s, with the names of its fields", (action, before, after, facts) => {
    expect(customerEntry(AUDIT_ID, { before, after })).toEqual({
      id: AUDIT_ID,
      merchantId: ROW.merchantId,
      target: ROW.id,
      action,
      ...facts,
    });
  });
});

describe("a customer's sales summary", () => {
  const sale = (currency: string, invoices: number, paidInvoices: number, paidMicros: string): Sales => ({
    currency,
    invoices,
    paidInvoices,
    paidMicros,
  });

  it.each([
    [[], "0.000000", null, 0],
    [[sale("USD", 3, 0, "0")], "0.000000", null, 0],
    [[sale("USD", 3, 1, "1500000")], "1.500000", "USD", 0.3333],
    [[sale("EUR", 1, 0, "0"), sale("USD", 1, 1, "1")], "0.000001", "USD", 0.5],
    [[sale("EUR", 1, 1, "2"), sale("USD", 2, 2, "1")], null, null, 1],
    [[sale("USD", 1, 1, "0")], "0.000000", "USD", 1],
  ])("of %j has the revenue %s %s and the paid rate %d", (sales, revenue, currency, paidRate) => {
    expect(salesSummaryOf(sales)).toMatchObject({ revenue, currency, paidRate });
  });

  it("has a paid rate from 0 to 1, and a total revenue unless invoices in several currencies were paid", () => {
    const sales = fc.uniqueArray(
      fc
        .tuple(fc.constantFrom("USD", "EUR", "BTC"), fc.nat(50), fc.nat(50), fc.bigInt({ min: 0n, max: 10n ** 30n }))
        .map(([currency, paid, unpaid, micros]) =>
          sale(currency, paid + unpaid, paid, String(paid === 0 ? 0n : micros)),
        ),
      { selector: ({ currency }) => currency },
    );
    fc.assert(
      fc.property(sales, (each) => {
        const salesSummary = salesSummaryOf(each);
        expect(salesSummary.paidRate).toBeGreaterThanOrEqual(0);
        expect(salesSummary.paidRate).toBeLessThanOrEqual(1);
        expect(salesSummary.revenue === null).toBe(salesSummary.revenues.length > 1);
        expect(salesSummary.totalInvoices).toBe(each.reduce((sum, { invoices }) => sum + invoices, 0));
      }),
      { numRuns: RUNS },
    );
  });
});
