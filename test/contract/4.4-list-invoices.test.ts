// Decisions 1 "Lists" and 4: pages by cursor, pages by number for older clients, filters and search.
import { beforeAll, describe, expect, test } from "vitest";
import { createInvoice, expectOk, expectRefusal, shop, stranger, unique } from "./client.ts";
import { expectInvoiceShape, type Invoice, type Page } from "./shapes.ts";

const scope = unique("scope");
const customerEmail = `${scope}@example.com`;
const made: Invoice[] = [];

beforeAll(async () => {
  for (let index = 0; index < 7; index += 1) {
    const externalId = `${scope}-${index}`;
    made.push(await createInvoice(shop, { name: `${scope} number ${index}`, customerEmail, externalId }));
  }
});

const list = async (query: string, api = shop) => expectOk(await api.get<Page<Invoice>>(`/invoices${query}`), 200);
const ids = (invoices: readonly Invoice[]) => invoices.map((invoice) => invoice.id);
const newestFirst = () => ids(made).reverse();
const mine = () => `customerId=${made[0]?.customerId}`;

async function allPages(query: string): Promise<Invoice[][]> {
  const pages: Invoice[][] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const page: Page<Invoice> = await list(`?${query}${cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`}`);
    pages.push([...page.data]);
    cursor = page.nextCursor;
  }
  return pages;
}

describe("a list", () => {
  test("shows complete invoices, newest first", async () => {
    const page = await list(`?${mine()}`);
    expect(ids(page.data)).toEqual(newestFirst());
    page.data.forEach(expectInvoiceShape);
    expect(page.data.at(-1)).toEqual(made[0]);
  });

  test("has twenty entries by default and at most a hundred", async () => {
    await Promise.all(Array.from({ length: 21 }, () => createInvoice(shop)));
    expect((await list("")).data).toHaveLength(20);
    expect((await list("?limit=1")).data).toHaveLength(1);
    expect((await list("?limit=100")).data.length).toBeGreaterThan(20);
  });

  test.each(["limit=0", "limit=101", "limit=-1", "limit=x", "limit=1.5", "limit="])("refuses %s", async (query) => {
    expectRefusal(await shop.get(`/invoices?${query}`), 400);
  });

  test("does not include the invoices of another merchant", async () => {
    expect((await list(`?search=${scope}`, stranger)).data).toEqual([]);
    expect((await list(`?${mine()}`, stranger)).data).toEqual([]);
  });
});

describe("pages by cursor", () => {
  test.each([1, 2, 3, 6, 7, 8])("of %i contain every invoice once and in order", async (limit) => {
    const pages = await allPages(`${mine()}&limit=${limit}`);
    expect(ids(pages.flat())).toEqual(newestFirst());
    for (const page of pages) expect(page.length).toBeLessThanOrEqual(limit);
  });

  test("do not shift when an invoice is created between two requests", async () => {
    const first = await list(`?search=${scope}&limit=3`);
    await createInvoice(shop, { name: `${scope}x late` });
    const second = await list(`?search=${scope}&limit=3&cursor=${encodeURIComponent(first.nextCursor ?? "")}`);
    expect(ids([...first.data, ...second.data])).toEqual(newestFirst().slice(0, 6));
  });

  test("begin with an empty cursor in the query, and contain no pagination field", async () => {
    const page = await list(`?${mine()}&limit=3&cursor=`);
    expect(ids(page.data)).toEqual(newestFirst().slice(0, 3));
    expect(Object.keys(page).sort()).toEqual(["data", "nextCursor"]);
    const next = await list(`?${mine()}&cursor=${encodeURIComponent(page.nextCursor ?? "")}`);
    expect(Object.keys(next).sort()).toEqual(["data", "nextCursor"]);
  });

  test("end with a null cursor", async () => {
    expect((await list(`?${mine()}&limit=100`)).nextCursor).toBeNull();
    expect((await list(`?search=${unique("none")}`)).nextCursor).toBeNull();
  });

  test.each(["x", "AAAA", "%00", "W10", "eyJhIjoxfQ", "-1"])("refuse the invented cursor %s", async (cursor) => {
    expectRefusal(await shop.get(`/invoices?cursor=${cursor}`), 400);
  });
});

describe("pages by number", () => {
  test("have a total if the query has a page, or has no cursor", async () => {
    expect((await list(`?${mine()}`)).pagination).toEqual({ page: 1, limit: 20, total: 7, lastPage: 1 });
    const first = await list(`?${mine()}&limit=3`);
    expect(first.pagination).toEqual({ page: 1, limit: 3, total: 7, lastPage: 3 });
    const next = await list(`?${mine()}&limit=3&cursor=${encodeURIComponent(first.nextCursor ?? "")}`);
    expect(ids(next.data)).toEqual(newestFirst().slice(3, 6));
    const page = await list(`?${mine()}&page=2&limit=3`);
    expect(page.pagination).toEqual({ page: 2, limit: 3, total: 7, lastPage: 3 });
    expect(ids(page.data)).toEqual(newestFirst().slice(3, 6));
  });

  test("after the last page are empty", async () => {
    expect((await list(`?${mine()}&page=4&limit=3`)).data).toEqual([]);
    expect((await list("?page=1000")).pagination?.page).toBe(1_000);
  });

  test.each(["page=0", "page=1001", "page=-1", "page=x", "page=1.5"])("refuse %s", async (query) => {
    expectRefusal(await shop.get(`/invoices?${query}`), 400);
  });
});

describe("filters", () => {
  test("by status return only invoices with that status", async () => {
    const [kept, cancelled] = [await createInvoice(shop), await createInvoice(shop)];
    expectOk(await shop.post(`/invoices/${cancelled.id}/cancel`), 200);
    expect((await list(`?status=CANCELLED&search=${cancelled.id}`)).data).toHaveLength(1);
    expect((await list(`?status=CANCELLED&search=${kept.id}`)).data).toEqual([]);
    const open = (await list("?status=AWAITING_PAYMENT&limit=100")).data;
    expect(new Set(open.map((invoice) => invoice.status))).toEqual(new Set(["AWAITING_PAYMENT"]));
    expect(ids(open)).toContain(kept.id);
  });

  test("by ids return exactly these invoices, newest first, and none of another merchant or without such an id", async () => {
    const named = [made[4], made[1], made[6]].map((invoice) => invoice?.id);
    expect(ids((await list(`?ids=${named.join(",")},inv_none&limit=100`)).data)).toEqual([
      named[2],
      named[0],
      named[1],
    ]);
    expect((await list(`?ids=${named.join(",")}&status=PAID`)).data).toEqual([]);
    expect((await list(`?ids=${named.join(",")}`, stranger)).data).toEqual([]);
    expectRefusal(await shop.get(`/invoices?ids=${"x,".repeat(100)}x`), 400);
  });

  test("by currency, externalId and customer return exactly the matches", async () => {
    const externalId = unique("order");
    const invoice = await createInvoice(shop, { currency: "CHF", externalId, customerEmail });
    expect(ids((await list(`?externalId=${externalId}`)).data)).toEqual([invoice.id]);
    expect((await list(`?externalId=${externalId.slice(0, -1)}`)).data).toEqual([]);
    expect(ids((await list(`?currency=CHF&customerId=${invoice.customerId}`)).data)).toEqual([invoice.id]);
    expect((await list(`?currency=SEK&externalId=${externalId}`)).data).toEqual([]);
    made.push(invoice);
  });

  test("by amount return only invoices in the range, both ends included", async () => {
    const invoice = await createInvoice(shop, { rawAmount: 321.654321, externalId: unique("order") });
    const found = async (range: string) => ids((await list(`?externalId=${invoice.externalId}&${range}`)).data);
    for (const range of ["amountFrom=321.654321", "amountTo=321.654321", "amountFrom=321&amountTo=322"])
      expect(await found(range), range).toEqual([invoice.id]);
    for (const range of ["amountFrom=321.654322", "amountTo=321.65432", "amountFrom=1000", "amountTo=99"])
      expect(await found(range), range).toEqual([]);
    for (const range of ["amountFrom=-1", "amountTo=1,5", "amountFrom=1.1234567", "amountTo=", "amountFrom=1e3"])
      expectRefusal(await shop.get(`/invoices?${range}`), 400);
  });

  test("by coin return no invoice without a payment in that coin, and refuse an unknown network", async () => {
    expect((await list(`?cryptocurrency=BTC&network=BTC&${mine()}`)).data).toEqual([]);
    expectRefusal(await shop.get("/invoices?network=MOON"), 400);
  });

  test("by creation time return only invoices in the range", async () => {
    const at = (invoice: Invoice | undefined, shift: number) =>
      encodeURIComponent(new Date(Date.parse(invoice?.createdAt ?? "") + shift).toISOString());
    const window = (from: number, to: number) =>
      list(`?externalId=${scope}-3&createdFrom=${at(made[3], from)}&createdTo=${at(made[3], to)}`);
    expect(ids((await window(-1, 1)).data)).toEqual([made[3]?.id]);
    expect((await window(1, 1_000)).data).toEqual([]);
    expect((await window(-1_000, -1)).data).toEqual([]);
  });

  test.each(["2026-11-21", "2026-11-21T00:00:00Z", "2026-11-21T00:00:00.000Z", "2026-11-21T01:00:00+01:00"])(
    "accept an ISO 8601 time: %s",
    async (time) => {
      for (const name of ["createdFrom", "createdTo"])
        expectOk(await shop.get(`/invoices?${name}=${encodeURIComponent(time)}`), 200);
    },
  );

  test("read a date as midnight UTC, and honour a UTC offset", async () => {
    const createdAt = Date.parse(made[3]?.createdAt ?? "");
    const day = (shift: number) => new Date(createdAt + shift * 86_400_000).toISOString().slice(0, 10);
    const only = `?externalId=${scope}-3`;
    expect(ids((await list(`${only}&createdFrom=${day(0)}&createdTo=${day(1)}`)).data)).toEqual([made[3]?.id]);
    expect((await list(`${only}&createdFrom=${day(1)}`)).data).toEqual([]);
    expect((await list(`${only}&createdTo=${day(0)}`)).data).toEqual([]);
    // The same moment in a time zone that is an hour ahead.
    const ahead = (shift: number) =>
      encodeURIComponent(new Date(createdAt + shift + 3_600_000).toISOString().replace("Z", "+01:00"));
    expect(ids((await list(`${only}&createdFrom=${ahead(-1)}&createdTo=${ahead(1)}`)).data)).toEqual([made[3]?.id]);
    expect((await list(`${only}&createdFrom=${ahead(1)}`)).data).toEqual([]);
  });

  test.each(["1", "2026", "0", "1795230923978", "Nov 21 2026", "21/11/2026", "2026-11-21T00:00:00", "2026-02-30"])(
    "refuse a time that is not strictly ISO 8601: %s",
    async (time) => {
      for (const name of ["createdFrom", "createdTo"]) {
        const answer = await shop.get(`/invoices?${name}=${encodeURIComponent(time)}`);
        expect(expectRefusal(answer, 400).details?.map(({ path }) => path)).toEqual([name]);
      }
    },
  );

  test("by needsReview return only invoices that need review, or only the others", async () => {
    expect((await list(`?externalId=${scope}-1&needsReview=true`)).data).toEqual([]);
    expect((await list(`?externalId=${scope}-1&needsReview=false`)).data).toHaveLength(1);
  });

  test.each(["status=NOPE", "createdFrom=yesterday", "createdTo=2026-13-01", "needsReview=maybe", "currency=XYZ"])(
    "are refused with an invalid value: %s",
    async (query) => {
      expectRefusal(await shop.get(`/invoices?${query}`), 400);
    },
  );
});

describe("search", () => {
  const found = async (text: string) => ids((await list(`?search=${encodeURIComponent(text)}&limit=100`)).data);

  test("finds by words of the name and by the start of a word, in any order and case", async () => {
    const lamp = await createInvoice(shop, { name: `Crème lamp ${scope}` });
    for (const text of [`creme lamp ${scope}`, `LAMP ${scope.toUpperCase()} CRÈME`, `lam ${scope}`])
      expect(await found(text)).toEqual([lamp.id]);
    expect(await found(`amp ${scope}`)).toEqual([]);
    const numbered = await found(`number ${scope}`);
    expect(numbered).toContain(made[4]?.id);
    expect(numbered).not.toContain(lamp.id);
  });

  test("finds by the exact id, email address or externalId", async () => {
    expect(ids((await list(`?search=${made[2]?.id}`)).data)).toEqual([made[2]?.id]);
    // Not toEqual: a part of the random scope may begin with 2, and then every invoice matches.
    expect(await found(`${scope}-2`)).toContain(made[2]?.id);
    expect((await list(`?search=${encodeURIComponent(customerEmail)}&limit=100`)).data.length).toBeGreaterThanOrEqual(
      7,
    );
  });

  test("has no wildcards: characters other than letters and digits only separate words", async () => {
    const odd = await createInvoice(shop, { name: `100%_\\'"${scope}` });
    expect(await found(odd.name)).toEqual([odd.id]);
    expect(await found(`100 ${scope}`)).toEqual([odd.id]);
    const all = await found(scope);
    expect(await found(`%${scope}`)).toEqual(all);
    for (const wildcard of [`_${scope.slice(1)}`, `${scope} n_mber`, `${scope} n%r`, "*", "%", "_"])
      expect(await found(wildcard)).toEqual([]);
  });
});
