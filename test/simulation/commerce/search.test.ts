// A search of the invoice list must find the same invoices as an oracle that reads all of them: after any creates, changes and erasures, including
// writes by a release without the index, and with other merchants' invoices in the same database.
import fc from "fast-check";
import { expect, it } from "vitest";
import { type Customer, NOTHING_PERSONAL } from "../../../src/commerce/customers/customer.ts";
import { insertCustomer, updateLiveCustomer } from "../../../src/commerce/customers/store.ts";
import type { Invoice } from "../../../src/commerce/invoice-records/invoice.ts";
import { insertInvoice, selectInvoicePage, updateInvoice } from "../../../src/commerce/invoice-records/store.ts";
import { searchReads } from "../../../src/commerce/search/read-found.ts";
import { refreshIndex } from "../../../src/commerce/search-index/refresh-index.ts";
import { wordsOf } from "../../../src/commerce/search-index/words.ts";
import { emailKeyOf } from "../../../src/lib/email.ts";
import { makeId } from "../../../src/lib/ids.ts";
import { batch } from "../../../src/platform/db/batch.ts";
import { openDb } from "../../../src/platform/db/client.ts";
import { triesOf } from "../../support/property-runs.ts";
import { migratedDatabase, savepoints, sqliteD1, statementCache } from "../engine/sqlite-d1.ts";

const MERCHANTS = ["mer_A", "mer_B"] as const;

/** Few words, so that texts share them and their prefixes, and differ in case, accents and punctuation. */
const anyWord = fc.constantFrom(
  "order",
  "Order",
  "ORD",
  "or",
  "Café",
  "cafe",
  "CAFÉ",
  "Straße",
  "STRASSE",
  "ı",
  "İI",
  "00123",
  "123",
  "0123",
  "SHOP77",
  "77",
  "7",
  "青いガラス",
  "ガラ",
  "%",
  "_",
  "''",
  "a",
  "é",
  "x".repeat(40),
);
const anyText = fc
  .array(fc.tuple(anyWord, fc.constantFrom(" ", "-", "/", "", "  ", "#", "@", ".")), { minLength: 1, maxLength: 5 })
  .map((words) => words.flat().join(""));
const anyAmount = fc.constantFrom(0n, 7_000_000n, 77_000_000n, 123_500_000n);
const anyQuery = fc.oneof(anyText, anyText, anyText, fc.constantFrom("7", "77.00", "123.5 USD", "123,50 eur", "USD 7"));

const anyStep = fc.oneof(
  fc.record({
    do: fc.constant("create" as const),
    name: anyText,
    externalId: fc.option(anyText),
    amountMicros: anyAmount,
    buyer: fc.nat(5),
  }),
  fc.record({ do: fc.constant("rename" as const), at: fc.nat(20), name: anyText, isOld: fc.boolean() }),
  fc.record({ do: fc.constant("move" as const), at: fc.nat(20), isOld: fc.boolean() }),
  fc.record({
    do: fc.constant("buyer" as const),
    at: fc.nat(5),
    name: fc.option(anyText),
    email: fc.option(anyText),
    isOld: fc.boolean(),
  }),
  fc.record({ do: fc.constant("erase" as const), at: fc.nat(5), isOld: fc.boolean() }),
);
type Step = typeof anyStep extends fc.Arbitrary<infer S> ? S : never;

/** The database, and the invoices and customers that it should contain. */
class Shops {
  readonly #sqlite = migratedDatabase();
  readonly db = openDb(sqliteD1(statementCache(this.#sqlite), savepoints(this.#sqlite), async (_, work) => work()));
  readonly invoices: Invoice[] = [];
  readonly customers: Customer[] = [];
  #nowMs = 1_000;

  async take(step: Step, merchant: (typeof MERCHANTS)[number]): Promise<void> {
    this.#nowMs += 1;
    if (step.do === "create") return this.#create(step, merchant);
    const invoice = this.invoices[step.at % Math.max(this.invoices.length, 1)];
    if (step.do === "rename" && invoice !== undefined) return this.#change(invoice, { name: step.name }, step.isOld);
    if (step.do === "move" && invoice !== undefined) return this.#change(invoice, { status: "EXPIRED" }, step.isOld);
    const buyer = this.customers[step.at % Math.max(this.customers.length, 1)];
    if (buyer === undefined || buyer.deletedAtMs !== null) return;
    if (step.do === "erase")
      return this.#changeBuyer(buyer, { ...NOTHING_PERSONAL, deletedAtMs: this.#nowMs }, step.isOld);
    if (step.do !== "buyer") return;
    const { name, email } = step;
    const own = email === null ? null : `${email}${buyer.id}`;
    await this.#changeBuyer(buyer, { name, email: own, emailKey: own === null ? null : emailKeyOf(own) }, step.isOld);
  }

  async #create(step: Extract<Step, { do: "create" }>, merchant: (typeof MERCHANTS)[number]): Promise<void> {
    const number = String(this.#nowMs).padStart(24, "0");
    const buyerId = makeId("cus", `${merchant.slice(4)}${step.buyer}`);
    const times = { createdAtMs: this.#nowMs, updatedAtMs: this.#nowMs, deletedAtMs: null };
    const customer = { ...NOTHING_PERSONAL, id: buyerId, merchantId: merchant, ...times, name: step.name };
    const isNew = !this.customers.some(({ id }) => id === buyerId);
    if (isNew) this.customers.push(customer);
    const isTaken = this.invoices.some((each) => each.merchantId === merchant && each.externalId === step.externalId);
    const invoice: Invoice = {
      id: makeId("inv", `01${number}`),
      merchantId: merchant,
      customerId: buyerId,
      productId: null,
      externalId: isTaken ? null : step.externalId,
      name: step.name,
      amountMicros: step.amountMicros,
      currency: "USD",
      description: null,
      redirectUrl: null,
      metadata: null,
      status: "AWAITING_PAYMENT",
      receivedMicros: 0n,
      confirmedMicros: 0n,
      isLate: false,
      needsReview: false,
      resolution: null,
      underpaidToleranceMicros: 0n,
      overpaidToleranceMicros: 0n,
      latePaymentPolicy: "REVIEW",
      rateLockSeconds: 1,
      monitorSeconds: 1,
      origin: "API",
      eventSequence: 1,
      timelinePosition: 1,
      expiresAtMs: 1,
      lateGraceUntilMs: null,
      monitorUntilMs: 1,
      cancelledAtMs: null,
      closedAtMs: null,
      createdAtMs: this.#nowMs,
      updatedAtMs: this.#nowMs,
      warnings: "[]" as Invoice["warnings"],
    };
    this.invoices.push(invoice);
    const buyer = isNew ? insertCustomer(this.db, customer, this.#nowMs) : [];
    await batch(this.db, [...buyer, ...insertInvoice(this.db, invoice)]);
  }

  async #change(invoice: Invoice, changes: Partial<Invoice>, isOld: boolean): Promise<void> {
    const columns = { ...changes, updatedAtMs: this.#nowMs };
    this.invoices[this.invoices.indexOf(invoice)] = { ...invoice, ...columns };
    if (!isOld) return void (await batch(this.db, updateInvoice(this.db, invoice, columns)));
    const set = this.#sqlite.prepare("update invoices set name = ?, status = ?, updated_at_ms = ? where id = ?");
    set.run(columns.name ?? invoice.name, columns.status ?? invoice.status, this.#nowMs, invoice.id);
  }

  async #changeBuyer(before: Customer, changes: Partial<Customer>, isOld: boolean): Promise<void> {
    const after = { ...before, ...changes };
    const row = this.#sqlite.prepare("select search_text as text from customers where id = ?").get(before.id);
    const read = { ...before, searchText: row?.text === null ? null : String(row?.text) };
    this.customers[this.customers.indexOf(before)] = after;
    const columns = { ...changes, updatedAtMs: this.#nowMs };
    if (!isOld) return void (await batch(this.db, updateLiveCustomer(this.db, { before: read, after }, columns)));
    this.#sqlite
      .prepare(
        "update customers set name = ?, email = ?, email_key = ?, deleted_at_ms = ?, updated_at_ms = ? where id = ?",
      )
      .run(after.name, after.email, after.emailKey, after.deletedAtMs, this.#nowMs, after.id);
  }

  /** All words in the index, each with the kind and id of its row, in order. */
  wordsStored(): readonly string[] {
    const rows = this.#sqlite
      .prepare("select kind || ' ' || id || ' ' || word as it from search_words order by 1")
      .all();
    return rows.map(({ it }) => String(it));
  }
}

/** The words that find a field: its own words, numbers without the letters before them, and numbers without leading zeros. */
function wordsOfField(text: string | null): readonly string[] {
  return wordsOf(text ?? "").flatMap((word) => {
    const number = /^\p{L}*(\p{N}+)$/u.exec(word)?.[1] ?? word;
    return [word, number, number.replace(/^0+(?!$)/, "")];
  });
}

const hasAll = (fields: readonly (string | null)[], words: readonly string[]) => {
  const own = fields.flatMap(wordsOfField);
  return words.length > 0 && words.every((word) => own.some((each) => each.startsWith(word)));
};

const AMOUNTS: Readonly<Record<string, bigint>> = {
  "7": 7_000_000n,
  "77.00": 77_000_000n,
  "123.5 USD": 123_500_000n,
  "USD 7": 7_000_000n,
  "77": 77_000_000n,
  "123": 123_000_000n,
  "0123": 123_000_000n,
  "00123": 123_000_000n,
};

function expected(shops: Shops, merchant: string, query: string): readonly string[] {
  const text = query.trim();
  const words = wordsOf(text);
  const isFound = (invoice: Invoice): boolean => {
    const buyer = shops.customers.find(({ id }) => id === invoice.customerId);
    const isOfBuyer =
      buyer !== undefined &&
      buyer.deletedAtMs === null &&
      (hasAll([buyer.name, buyer.email], words) || buyer.emailKey?.startsWith(emailKeyOf(text)));
    return (
      invoice.externalId?.startsWith(text) ||
      hasAll([invoice.name, invoice.externalId], words) ||
      isOfBuyer ||
      AMOUNTS[text] === invoice.amountMicros
    );
  };
  return shops.invoices
    .filter((each) => each.merchantId === merchant && isFound(each))
    .map(({ id }) => id)
    .toReversed();
}

it("a search finds the same invoices as an oracle, and the index stores exactly the invoices' words", {
  timeout: 600_000,
}, async () => {
  const anySteps = fc.array(fc.tuple(anyStep, fc.constantFrom(...MERCHANTS)), { minLength: 3, maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(anySteps, fc.array(anyQuery, { minLength: 5, maxLength: 12 }), async (steps, queries) => {
      const shops = new Shops();
      for (const [step, merchant] of steps) await shops.take(step, merchant);
      while ((await refreshIndex(shops.db)) === "more");
      for (const merchant of MERCHANTS) {
        for (const query of queries.filter((each) => each.trim() !== "")) {
          const want = expected(shops, merchant, query);
          const page = { filter: { search: query }, after: undefined, limit: 100, offset: 0 };
          const rows = await selectInvoicePage(shops.db, merchant, page);
          expect([query, rows.map(({ id }) => id)]).toEqual([query, want]);
          const [found] = await batch(shops.db, [searchReads(shops.db, merchant, query)[0]]);
          expect(found.length).toBe(Math.min(want.length, 8));
          expect(want).toEqual(expect.arrayContaining(found.map(({ id }) => id)));
        }
      }
      const kept = [
        ...shops.invoices.flatMap(({ id, name, externalId }) =>
          [name, externalId].flatMap(wordsOfField).map((word) => `I ${id} ${word}`),
        ),
        ...shops.customers.flatMap(({ id, name, email }) =>
          [name, email].flatMap(wordsOfField).map((word) => `C ${id} ${word}`),
        ),
      ];
      expect(shops.wordsStored().toSorted()).toEqual([...new Set(kept)].toSorted());
    }),
    { numRuns: triesOf({ usual: 40, deep: 4_000 }) },
  );
});
