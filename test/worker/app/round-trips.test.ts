// Counts the sequential storage calls of a request on the bindings, in order (architecture.md "One request"). Calls that only use memory (limiter,
// rate book) are counted separately.
import { HDKey } from "@scure/bip32";
import { beforeAll, describe, expect, it } from "vitest";
import { decodeBase58check, encodeBase58check } from "../../../src/chains/encodings/address-text.ts";
import { HOUR_MS } from "../../../src/lib/time.ts";
import { fixedRateTable } from "../../../src/rates/fixed-rates.ts";
import { type Answer, type Ask, type Shop, seedKey, seedMerchant, send, sendWith } from "../../support/access.ts";
import { countingEnv } from "../../support/counting-env.ts";
import { seedPayment } from "../../support/payments.ts";

const ZPUB_VERSION = 0x04b24746;
const ETH_ADDRESS = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
/** Calls that are answered from memory; all others are storage. */
const IN_MEMORY = ["RATE_LIMITER.take", "RATE_LIMITER.takeEach", "RATE_BOOK.table"];

/** A shop whose keys have a last use in the future, so that no request records a new last use. */
async function freshShop(): Promise<Shop> {
  const merchantId = await seedMerchant();
  const lastUsedAtMs = Date.now() + HOUR_MS;
  const secretKey = await seedKey(merchantId, { lastUsedAtMs });
  return { merchantId, secretKey, publicKey: await seedKey(merchantId, { kind: "PUBLIC", lastUsedAtMs }) };
}

function freshZpub(): string {
  const account = HDKey.fromMasterSeed(crypto.getRandomValues(new Uint8Array(32))).derive("m/84'/0'/0'");
  const payload = Uint8Array.from(decodeBase58check(account.publicExtendedKey) ?? []);
  new DataView(payload.buffer).setUint32(0, ZPUB_VERSION);
  return encodeBase58check(payload);
}

const pathOf = ({ merchantId }: Shop, rest: string) => `/api/v1/merchants/merchant/${merchantId}${rest}`;

async function withWallets(shop: Shop, kinds: readonly ("direct" | "xpub")[]): Promise<Shop> {
  const bodies = {
    direct: { walletType: "DIRECT_WALLET", cryptocurrency: "USDT", network: "ETH", address: ETH_ADDRESS },
    xpub: {
      walletType: "XPUB_WALLET",
      cryptocurrency: "BTC",
      network: "BTC",
      xpub: freshZpub(),
      derivationPath: "m/84'/0'/0'",
    },
  };
  for (const kind of kinds) {
    const { status, text } = await send(pathOf(shop, "/wallets"), {
      method: "POST",
      key: shop.secretKey,
      body: bodies[kind],
    });
    expect([status, text]).toEqual([201, text]);
  }
  return shop;
}

/** The answer to a request, and the calls that the request made. */
async function counted(
  shop: Shop,
  rest: string,
  ask: Ask = {},
  changes: Partial<Env> = {},
): Promise<{ readonly answer: Answer; readonly calls: readonly string[]; readonly storage: readonly string[] }> {
  const { bindings, calls } = countingEnv(changes);
  const answer = await sendWith(bindings, pathOf(shop, rest), { key: shop.secretKey, ...ask });
  return { answer, calls: [...calls], storage: calls.filter((call) => !IN_MEMORY.includes(call)) };
}

const create = (body: object = {}): Ask => ({
  method: "POST",
  headers: { "idempotency-key": crypto.randomUUID() },
  body: { name: "Order", rawAmount: 25, ...body },
});
const BTC = { cryptocurrency: "BTC", network: "BTC" };
const USDT = { cryptocurrency: "USDT", network: "ETH" };

/** Fixed rates from the test's rate book, counted like the real one. */
function market(): Partial<Env> {
  const RATE_BOOK = { getByName: () => ({ table: async () => fixedRateTable(Date.now()) }) };
  return { RATE_SOURCE: "coinbase,kraken", RATE_BOOK } as unknown as Partial<Env>;
}

let bare: Shop;
let direct: Shop;
let both: Shop;

beforeAll(async () => {
  bare = await freshShop();
  direct = await withWallets(await freshShop(), ["direct"]);
  both = await withWallets(await freshShop(), ["direct", "xpub"]);
});

describe("creating an invoice", () => {
  it("without a payment method takes one read, one key reservation and one batch", async () => {
    const { answer, calls } = await counted(bare, "/invoices", create());
    expect([answer.status, answer.json?.paymentMethods]).toEqual([201, []]);
    expect(calls).toEqual(["D1 read", "RATE_LIMITER.takeEach", "MERCHANT_OBJECT.reserve", "D1 write"]);
  });

  it("with two methods offered and none picked takes one read, one key reservation and one batch", async () => {
    const { answer, storage } = await counted(both, "/invoices", create());
    expect([answer.status, answer.json?.paymentMethods]).toEqual([201, []]);
    expect(storage).toEqual(["D1 read", "MERCHANT_OBJECT.reserve", "D1 write"]);
  });

  it("with a method of an extended key takes one additional call, to its allocator", async () => {
    const { answer, storage } = await counted(both, "/invoices", create({ paymentMethods: [BTC] }));
    expect([answer.status, answer.json?.paymentMethods]).toMatchObject([201, [{ status: "ACTIVE", ...BTC }]]);
    expect(storage).toEqual(["D1 read", "MERCHANT_OBJECT.reserve", "ADDRESS_ALLOCATOR.allocateEach", "D1 write"]);
  });

  it("with a direct method takes one additional call, to its address's allocator, even if the plain amount is already in use", async () => {
    for (let nth = 0; nth < 3; nth++) {
      const { answer, storage } = await counted(direct, "/invoices", create({ paymentMethods: [USDT] }));
      expect([answer.status, answer.json?.paymentMethods]).toMatchObject([201, [{ status: "ACTIVE", ...USDT }]]);
      expect(storage).toEqual(["D1 read", "MERCHANT_OBJECT.reserve", "AMOUNT_ALLOCATOR.allocate", "D1 write"]);
    }
  });

  it("with one method of each kind takes one additional call to each allocator", async () => {
    const { answer, storage } = await counted(both, "/invoices", create({ paymentMethods: [USDT, BTC] }));
    expect([answer.status, answer.json?.paymentMethods]).toMatchObject([
      201,
      [{ status: "ACTIVE" }, { status: "ACTIVE" }],
    ]);
    const allocators = ["AMOUNT_ALLOCATOR.allocate", "ADDRESS_ALLOCATOR.allocateEach"];
    expect(storage).toEqual(["D1 read", "MERCHANT_OBJECT.reserve", ...allocators, "D1 write"]);
  });

  it("with a customer takes no additional call, whether the customer is known or new", async () => {
    for (const rawAmount of [10, 20]) {
      const body = { rawAmount, customerEmail: "payer@shop.example", customerName: `Payer of ${rawAmount}` };
      const { answer, storage } = await counted(bare, "/invoices", create(body));
      expect(answer.status).toBe(201);
      expect(storage).toEqual(["D1 read", "MERCHANT_OBJECT.reserve", "D1 write"]);
    }
  });

  it("for a product takes no additional call, with the product's terms or the request's", async () => {
    const product = { name: "Coffee", price: 31.25 };
    const made = await send(pathOf(direct, "/products"), { method: "POST", key: direct.secretKey, body: product });
    const productId = made.json?.id;
    for (const terms of [{}, { name: "Order", rawAmount: 25.5, currency: "USD", paymentMethods: [USDT] }]) {
      const ask = { ...create(), body: { productId, ...terms } };
      const { answer, storage } = await counted(direct, "/invoices", ask);
      expect([answer.status, answer.json], answer.text).toMatchObject([201, { productId, product: { id: productId } }]);
      expect(storage).toEqual(["D1 read", "MERCHANT_OBJECT.reserve", "AMOUNT_ALLOCATOR.allocate", "D1 write"]);
    }
  });

  it("without an Idempotency-Key takes one read and one batch", async () => {
    const { answer, storage } = await counted(bare, "/invoices", { ...create(), headers: {} });
    expect(answer.status).toBe(201);
    expect(storage).toEqual(["D1 read", "D1 write"]);
  });

  it("at market rates reads the rate book in memory, and takes no additional storage call", async () => {
    const { answer, calls, storage } = await counted(direct, "/invoices", create({ paymentMethods: [USDT] }), market());
    expect([answer.status, answer.json?.paymentMethods]).toMatchObject([201, [{ status: "ACTIVE", ...USDT }]]);
    expect(storage).toEqual(["D1 read", "MERCHANT_OBJECT.reserve", "AMOUNT_ALLOCATOR.allocate", "D1 write"]);
    expect(calls.filter((call) => call === "RATE_BOOK.table").length).toBeGreaterThanOrEqual(1);
    expect(calls.filter((call) => call === "RATE_BOOK.table").length).toBeLessThanOrEqual(2);
  });
});

describe("the form on a product's page", () => {
  const FORM = { "content-type": "application/x-www-form-urlencoded", "cf-connecting-ip": "203.0.113.40" };

  /** Sends the form of one of the shop's products. */
  async function bought(
    shop: Shop,
    fields: object = {},
    form = `token=${crypto.randomUUID()}&email=jane@shop.example`,
  ) {
    const body = { name: "Coffee", price: 5, ...fields };
    const made = await send(pathOf(shop, "/products"), { method: "POST", key: shop.secretKey, body });
    const { bindings, calls } = countingEnv();
    const answer = await sendWith(bindings, `/buy/${made.json?.id ?? "prd_none"}`, {
      method: "POST",
      headers: FORM,
      body: form,
    });
    return [answer.status, ...calls.filter((call) => !IN_MEMORY.includes(call))];
  }
  // The edge reads the product and its merchant; then the object makes the same calls as for a create with a public key.
  const EDGE = ["D1 read"];
  const OBJECT = ["D1 read", "MERCHANT_OBJECT.reserve", "D1 read"];

  it("takes one more read than creating an invoice with a public key, to find the merchant", async () => {
    const headers = { ...create().headers, "cf-connecting-ip": "203.0.113.41" };
    const byKey = await counted(bare, "/invoices", { ...create(), key: bare.publicKey, headers });
    expect([byKey.answer.status, ...byKey.storage]).toEqual([201, ...OBJECT, "D1 write"]);
    expect(await bought(bare)).toEqual([303, ...EDGE, ...OBJECT, "D1 write"]);
  });

  it("takes a call to the allocator for a direct method, and for an extended key also a read of browsers' unpaid addresses", async () => {
    expect(await bought(direct)).toEqual([303, ...EDGE, ...OBJECT, "AMOUNT_ALLOCATOR.allocate", "D1 write"]);
    const own = await withWallets(await freshShop(), ["xpub"]);
    const held = ["D1 read", "ADDRESS_ALLOCATOR.allocateEach"];
    expect(await bought(own)).toEqual([303, ...EDGE, ...OBJECT, ...held, "D1 write"]);
  });

  it("that is refused takes one read, and no call to the merchant's object", async () => {
    expect(await bought(bare, { isActive: false })).toEqual([410, ...EDGE]);
    expect(await bought(bare, { askForName: true })).toEqual([400, ...EDGE]);
    expect(await bought(bare, {}, "email=no")).toEqual([400, ...EDGE]);
    expect(await bought(bare, { name: "" })).toEqual([404, ...EDGE]);
  });
});

describe("picking a payment method", () => {
  it("takes a read, a key reservation, a read of the wallets, a call to the allocator and a batch", async () => {
    const { answer } = await counted(both, "/invoices", create());
    const pick = async (pair: object) => {
      const ask = { ...create(), body: pair };
      const { answer: picked, storage } = await counted(both, `/invoices/${answer.json?.id}/payment-methods`, ask);
      return [picked.status, ...storage];
    };
    expect(await pick(USDT)).toEqual([
      201,
      "D1 read",
      "MERCHANT_OBJECT.reserve",
      "D1 read",
      "AMOUNT_ALLOCATOR.allocate",
      "D1 write",
    ]);
    expect(await pick(BTC)).toEqual([
      201,
      "D1 read",
      "MERCHANT_OBJECT.reserve",
      "D1 read",
      "ADDRESS_ALLOCATOR.allocate",
      "D1 write",
    ]);
  });
});

describe("live updates for an invoice", () => {
  it("take one call after the response to an edit or a cancellation, and none after a creation or a pick", async () => {
    const { answer, calls } = await counted(both, "/invoices", create({ paymentMethods: [USDT] }));
    const one = `/invoices/${answer.json?.id}`;
    const picked = await counted(both, `${one}/payment-methods`, { ...create(), body: BTC });
    expect([answer.status, picked.answer.status]).toEqual([201, 201]);
    expect([...calls, ...picked.calls].filter((call) => call.startsWith("CHECKOUT_ROOM"))).toEqual([]);
    const edited = await counted(both, one, { method: "PATCH", body: { description: "Two of them" } });
    expect([edited.answer.status, ...edited.storage]).toEqual([200, "D1 read", "D1 write", "CHECKOUT_ROOM.tell"]);
    const cancelled = await counted(both, `${one}/cancel`, { method: "POST" });
    expect([cancelled.answer.status, ...cancelled.storage]).toEqual([200, "D1 read", "D1 write", "CHECKOUT_ROOM.tell"]);
  });
});

describe("a replay", () => {
  it("takes two reads and a key reservation that writes nothing, and returns the same bytes", async () => {
    const ask = create({ paymentMethods: [BTC] });
    const first = await counted(both, "/invoices", ask);
    const again = await counted(both, "/invoices", ask);
    expect(again.answer.headers.get("idempotent-replayed")).toBe("true");
    expect(again.answer.text).toBe(first.answer.text);
    expect(again.calls).toEqual(["D1 read", "RATE_LIMITER.takeEach", "MERCHANT_OBJECT.reserve", "D1 read"]);
  });

  it("with a different body is refused without another storage call", async () => {
    const ask = create();
    await counted(bare, "/invoices", ask);
    const other = await counted(bare, "/invoices", { ...ask, body: { name: "Another", rawAmount: 1 } });
    expect(other.answer.status).toBe(409);
    expect(other.storage).toEqual(["D1 read", "MERCHANT_OBJECT.reserve"]);
  });
});

describe("reading", () => {
  it("an invoice, payment, wallet, customer or product, or a list of them, takes a single read", async () => {
    const body = { paymentMethods: [USDT], customerEmail: "payer@shop.example" };
    const { answer } = await counted(both, "/invoices", create(body));
    const product = await counted(both, "/products", { ...create(), body: { name: "Coffee", price: 1 } });
    const payment = await seedPayment(both.merchantId);
    const one = `/invoices/${answer.json?.id}`;
    const paths = [
      "/invoices",
      "/invoices?limit=5",
      "/invoices?page=2",
      one,
      `${one}/payment-methods`,
      `${one}/payments`,
      "/payments",
      "/payments?status=UNMATCHED&limit=5",
      `/payments/${payment.id}`,
      "/wallets",
      "/products",
      "/products?search=Co",
      `/products/${product.answer.json?.id}`,
      "/customers",
      "/customers?search=payer@shop.example",
      `/customers/${answer.json?.customerId}`,
      `/customers/${answer.json?.customerId}/resume`,
    ];
    for (const path of paths) {
      const read = await counted(both, path);
      expect([path, read.answer.status, read.calls]).toEqual([path, 200, ["D1 read", "RATE_LIMITER.take"]]);
    }
  });

  it("something unknown takes a single read", async () => {
    const ulid = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    for (const path of [`/invoices/inv_${ulid}`, `/wallets/wal_${ulid}`, `/payments/pay_${ulid}`]) {
      const read = await counted(both, path);
      expect([read.answer.status, read.storage]).toEqual([404, ["D1 read"]]);
    }
  });

  it("with a public key adds a second rate limit in memory, but no storage call", async () => {
    const { answer } = await counted(bare, "/invoices", create());
    const read = await counted(bare, `/invoices/${answer.json?.id}`, {
      key: bare.publicKey,
      headers: { "cf-connecting-ip": "198.51.100.9" },
    });
    expect([read.answer.status, read.calls]).toEqual([200, ["D1 read", "RATE_LIMITER.take", "RATE_LIMITER.take"]]);
  });
});

describe("a refused request", () => {
  it("without a well-formed key makes no call at all", async () => {
    const asks: readonly [string, Ask][] = [
      ["/invoices", {}],
      ["/wallets", {}],
      ["/invoices", create()],
      ["/invoices", create({ paymentMethods: [USDT] })],
    ];
    for (const key of ["letmein", `sk_${"0".repeat(37)}`, `pk_${"0".repeat(39)}`, `sk_${"0".repeat(37)}-`, ""]) {
      for (const [path, ask] of asks) {
        const turned = await counted(direct, path, { ...ask, key });
        expect([turned.answer.status, turned.calls]).toEqual([401, []]);
      }
    }
  });

  it("without a well-formed key does not read rates", async () => {
    const ask = { ...create({ paymentMethods: [USDT] }), key: "letmein" };
    const turned = await counted(direct, "/invoices", ask, market());
    expect([turned.answer.status, turned.calls]).toEqual([401, []]);
  });

  it("with a made-up key in the right format takes one read and reserves no idempotency key", async () => {
    for (const key of [`sk_${"0".repeat(38)}`, `pk_${"0".repeat(38)}`]) {
      for (const ask of [{}, create(), create({ paymentMethods: [USDT] })]) {
        const { answer, storage } = await counted(direct, "/invoices", { ...ask, key });
        expect([answer.status, storage]).toEqual([401, ["D1 read"]]);
      }
    }
  });

  it("with a valid key and an invalid body takes one read, and reserves no idempotency key", async () => {
    const { answer, storage } = await counted(bare, "/invoices", { ...create(), body: { name: 1 } });
    expect([answer.status, storage]).toEqual([400, ["D1 read"]]);
  });

  it("without the permission, or for another merchant, takes one read and is not counted by the rate limiter", async () => {
    const poor = await seedKey(bare.merchantId, { permissions: [] });
    for (const key of [poor, direct.secretKey]) {
      const { answer, calls } = await counted(bare, "/invoices", { ...create(), key });
      expect([answer.status, calls]).toEqual([403, ["D1 read"]]);
    }
  });
});

describe("the last use of a key", () => {
  it("is stored after the response, at most once a minute", async () => {
    const key = await seedKey(bare.merchantId);
    const first = await counted(bare, "/invoices", { key });
    expect(first.storage).toEqual(["D1 read", "D1 write"]);
    const second = await counted(bare, "/invoices", { key });
    expect(second.storage).toEqual(["D1 read"]);
  });
});

describe("the counting environment", () => {
  it("counts every read, write and call", async () => {
    const { bindings, calls } = countingEnv();
    const DB = bindings.DB;
    if (DB === undefined) throw new Error("no database");
    await DB.prepare("SELECT ?").bind(1).first();
    await DB.batch([DB.prepare("SELECT 1"), DB.prepare("select ?").bind(2)]);
    await DB.batch([DB.prepare("SELECT 1"), DB.prepare("DELETE FROM merchants WHERE id = ?").bind("none")]);
    await DB.prepare("UPDATE merchants SET name = name WHERE id = 'none'").run();
    await bindings.RATE_LIMITER?.getByName("x").take(1, 0);
    expect(calls).toEqual(["D1 read", "D1 read", "D1 write", "D1 write", "RATE_LIMITER.take"]);
  });
});
