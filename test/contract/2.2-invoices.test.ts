// Interface 2.2 and decisions 4: the invoice object, and the bounds of every field of the request.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createInvoice, expectOk, expectRefusal, removeWallets, shop, stranger, unique } from "./client.ts";
import { expectInvoiceShape, type Invoice } from "./shapes.ts";

beforeAll(() => removeWallets(shop));
afterAll(() => removeWallets(shop));

const EMOJI = "\u{1F600}";
const refuse = async (fields: Record<string, unknown>, path?: string) => {
  const answer = await shop.post("/invoices", { name: "Order", rawAmount: 10, ...fields });
  const refusal = expectRefusal(answer, 400);
  if (path !== undefined) expect(refusal.details?.map((detail) => detail.path.split(".")[0])).toContain(path);
  return refusal;
};

describe("the invoice object", () => {
  test("has every field of the interface at creation, with null or an empty array where there is no value", async () => {
    const invoice = await createInvoice(shop);
    expectInvoiceShape(invoice);
    expect(invoice).toMatchObject({
      merchantId: shop.merchantId,
      customerId: null,
      customer: null,
      description: null,
      redirectUrl: null,
      rawAmount: "10.000000",
      endAmount: "10.000000",
      currency: "USD",
      status: "AWAITING_PAYMENT",
      amountReceived: "0.000000",
      amountConfirmed: "0.000000",
      externalId: null,
      isLate: false,
      needsReview: false,
      warnings: ["NO_ENABLED_WALLET"],
      paymentMethods: [],
    });
    expect(invoice.invoiceTimeline).toEqual([
      expect.objectContaining({ invoiceId: invoice.id, paymentStatus: "AWAITING_PAYMENT" }),
    ]);
    expect(invoice.checkoutUrl).toContain(invoice.id);
  });

  test("returns every field of the request", async () => {
    const fields = {
      name: "Two lamps",
      rawAmount: 129.5,
      currency: "EUR",
      customerEmail: `${unique("ann")}@example.com`,
      customerName: "Ann Lee",
      customerAddress: "1 Long Street\nTown",
      customerPhoneNumber: "+44 20 7946 0000",
      description: "Delivered on Monday",
      redirectUrl: "https://shop.example/thanks?order=1&x=%20#top",
      metadata: { order: "17", note: "" },
      externalId: unique("order"),
    };
    const invoice = await createInvoice(shop, fields);
    expectInvoiceShape(invoice);
    const { rawAmount, customerEmail, customerName, customerAddress, customerPhoneNumber, ...same } = fields;
    expect(invoice).toMatchObject({ ...same, rawAmount: `${rawAmount}00000` });
    expect(invoice.customer).toEqual({
      id: invoice.customerId,
      merchantId: invoice.merchantId,
      email: customerEmail,
      name: customerName,
      address: customerAddress,
      phoneNumber: customerPhoneNumber,
      createdAt: invoice.createdAt,
      updatedAt: invoice.createdAt,
    });
  });

  test("reads the same as in the answer to its creation", async () => {
    const invoice = await createInvoice(shop, { customerName: "Ann" });
    expect(expectOk(await shop.get<Invoice>(`/invoices/${invoice.id}`), 200)).toEqual(invoice);
  });
});

describe("name", () => {
  test("is required and must be text", async () => {
    expectRefusal(await shop.post("/invoices", { rawAmount: 10 }), 400);
    await refuse({ name: 7 }, "name");
    await refuse({ name: null }, "name");
    await refuse({ name: ["Order"] }, "name");
  });
});

describe("lengths are counted in code points", () => {
  const FIELDS = [
    ["name", 200],
    ["description", 1_000],
    ["customerAddress", 500],
    ["customerPhoneNumber", 50],
    ["externalId", 200],
  ] as const;

  test.each(FIELDS)("%s may have %i code points, emoji included, and not one more", async (field, most) => {
    const text = (length: number) => EMOJI.repeat(length - 36) + unique("").slice(1);
    const invoice = await createInvoice(shop, { [field]: text(most) });
    const customer = { customerAddress: invoice.customer?.address, customerPhoneNumber: invoice.customer?.phoneNumber };
    expect([...String({ ...invoice, ...customer }[field])]).toHaveLength(most);
    await refuse({ [field]: text(most + 1) }, field);
  });
});

describe("text is stored as it was sent", () => {
  test.each([
    ["bidirectional controls", "a\u202Eb\u2066c\u2069\u200F"],
    ["control characters", "a\u0001b\tc\nd\u007Fe\u0085f"],
    ["decomposed letters", "e\u0301 and \u00E9"],
    ["joined emoji", "\u{1F468}\u200D\u{1F469}\u200D\u{1F467}"],
    ["markup", "<script>alert('x')</script> & \"quotes\""],
    ["a byte order mark and unassigned code points", "\uFEFFa\uFFFFb\u{10FFFF}"],
    ["surrounding spaces", "  padded  "],
  ])("text with %s is returned unchanged", async (_, text) => {
    const { id } = await createInvoice(shop, { name: text, description: text, customerName: text });
    const invoice = expectOk(await shop.get<Invoice>(`/invoices/${id}`), 200);
    expect(invoice).toMatchObject({ name: text, description: text, customer: { name: text } });
  });

  const FIELDS = [
    "name",
    "description",
    "customerName",
    "customerAddress",
    "customerPhoneNumber",
    "externalId",
    "customerEmail",
    "redirectUrl",
    "currency",
  ];
  test.each(FIELDS)("NUL and lone surrogates are refused in %s", async (field) => {
    for (const escaped of ["\\u0000", "\\ud83d", "\\ude00\\ud83d", "x\\udfff"]) {
      const rest = field === "name" ? "" : '"name":"Order",';
      const answer = await shop.postRaw("/invoices", `{${rest}"rawAmount":10,"${field}":"a${escaped}b"}`);
      expectRefusal(answer, 400);
    }
  });

  test("NUL and lone surrogates are refused in the names and values of metadata", async () => {
    for (const metadata of ['{"a\\u0000":"b"}', '{"a":"\\u0000"}', '{"\\ud800":"b"}', '{"a":"\\udc00"}']) {
      expectRefusal(await shop.postRaw("/invoices", `{"name":"Order","rawAmount":10,"metadata":${metadata}}`), 400);
    }
  });
});

describe("redirectUrl", () => {
  test.each([
    "https://shop.example/",
    "http://localhost:3000/done",
    "https://shop.example/path?x=1&y=%F0%9F%98%80#fragment",
  ])("%s is accepted and returned unchanged", async (redirectUrl) => {
    expect((await createInvoice(shop, { redirectUrl })).redirectUrl).toBe(redirectUrl);
  });

  test("has at most 2,048 characters", async () => {
    const redirectUrl = "https://shop.example/".padEnd(2_048, "a");
    expect((await createInvoice(shop, { redirectUrl })).redirectUrl).toBe(redirectUrl);
    await refuse({ redirectUrl: `${redirectUrl}a` }, "redirectUrl");
  });

  test.each([
    "javascript:alert(1)",
    "JavaScript:alert(1)//http://x",
    "data:text/html,hello",
    "ftp://shop.example/",
    "//shop.example/thanks",
    "/thanks",
    "shop.example/thanks",
    "http:\\\\shop.example",
    "https:\\shop.example",
    "https://user@shop.example/",
    "https://user:secret@shop.example/",
    "https://",
    "https://shop.example/\nx",
    "https://shop.exa\tmple/",
    " https://shop.example/",
    "",
  ])("%j is refused", async (redirectUrl) => {
    await refuse({ redirectUrl }, "redirectUrl");
  });
});

describe("metadata", () => {
  const entries = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, "v"]));

  test("may have up to fifty text values", async () => {
    expect((await createInvoice(shop, { metadata: entries(50) })).metadata).toEqual(entries(50));
    await refuse({ metadata: entries(51) }, "metadata");
  });

  test("may have 8,192 bytes as UTF-8 JSON, and not one more", async () => {
    const filled = { k: EMOJI.repeat(2_046) };
    expect(Buffer.byteLength(JSON.stringify(filled))).toBe(8_192);
    expect((await createInvoice(shop, { metadata: filled })).metadata).toEqual(filled);
    await refuse({ metadata: { k: `${filled.k}x` } }, "metadata");
  });

  test.each([{ k: 1 }, { k: null }, { k: true }, { k: ["v"] }, { k: { l: "m" } }, ["v"], "text", 7])(
    "%j is refused: every value must be text",
    async (metadata) => {
      await refuse({ metadata }, "metadata");
    },
  );

  test("may have a name such as __proto__, which is stored like any other", async () => {
    const raw = '{"name":"Order","rawAmount":10,"metadata":{"__proto__":"a","constructor":"b"}}';
    const answer = await shop.postRaw<Invoice>("/invoices", raw);
    expect(Object.entries(expectOk(answer, 201).metadata ?? {})).toEqual([
      ["__proto__", "a"],
      ["constructor", "b"],
    ]);
  });
});

describe("externalId", () => {
  test("must be unique within the merchant; the refusal names the invoice that already has it", async () => {
    const externalId = unique("order");
    const first = await createInvoice(shop, { externalId });
    const answer = await shop.post("/invoices", { name: "Another", rawAmount: 5, externalId });
    expectRefusal(answer, 409, "EXTERNAL_ID_EXISTS");
    expect(answer.text).toContain(first.id);
  });

  test("may be reused by another merchant", async () => {
    const externalId = unique("order");
    await createInvoice(shop, { externalId });
    expect((await createInvoice(stranger, { externalId })).externalId).toBe(externalId);
  });

  test("is accepted only once when twenty invoices are created at once with the same value", async () => {
    const body = { name: "Order", rawAmount: 1, externalId: unique("order") };
    const answers = await Promise.all(Array.from({ length: 20 }, () => shop.post<Invoice>("/invoices", body)));
    const created = answers.filter((answer) => answer.status === 201);
    expect(created).toHaveLength(1);
    for (const answer of answers.filter((each) => each.status !== 201)) {
      expectRefusal(answer, 409, "EXTERNAL_ID_EXISTS");
      expect(answer.text).toContain(created[0]?.body.id);
    }
  });
});

describe("expiresInSeconds", () => {
  const lifetime = (invoice: Invoice) => Date.parse(invoice.expiresAt) - Date.parse(invoice.createdAt);

  test("defaults to an hour", async () => {
    expect(lifetime(await createInvoice(shop))).toBe(3_600_000);
  });

  test.each([60, 2_592_000])("%i is accepted", async (expiresInSeconds) => {
    const invoice = await createInvoice(shop, { expiresInSeconds });
    expect(lifetime(invoice)).toBe(expiresInSeconds * 1_000);
    expect(Date.parse(invoice.monitorUntil) - Date.parse(invoice.expiresAt)).toBe(86_400_000);
    // The invoice is cancelled, because its expiry would appear in another file's tests.
    expectOk(await shop.post(`/invoices/${invoice.id}/cancel`), 200);
  });

  test.each([59, 2_592_001, 0, -60, 60.5, "60"])("%j is refused", async (expiresInSeconds) => {
    await refuse({ expiresInSeconds }, "expiresInSeconds");
  });
});

describe("a request body", () => {
  test("with an unknown field is refused, and the refusal names the field, so that a misspelt field is not silently dropped", async () => {
    const refusal = await refuse({ descripton: "slip" });
    expect(JSON.stringify(refusal)).toContain("descripton");
    await refuse({ status: "PAID" });
    await refuse({ id: "inv_01ARZ3NDEKTSV4RRFFQ69G5FAV" });
    await refuse({ paymentMethods: [{ cryptocurrency: "BTC", network: "BTC", address: "x" }] });
  });

  test.each(["[]", "null", "7", '"text"', "true"])(
    "is refused if it is %s, because that is not an object",
    async (raw) => {
      expectRefusal(await shop.postRaw("/invoices", raw), 400);
    },
  );
});
