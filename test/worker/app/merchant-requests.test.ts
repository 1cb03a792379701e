// Concurrent requests in one merchant's object: what they share, and how many there may be.
import { env } from "cloudflare:workers";
import { eq, sql } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";
import { MerchantRequests } from "../../../src/app/merchant-requests.ts";
import { type MerchantId, makeId } from "../../../src/lib/ids.ts";
import { sleep } from "../../../src/lib/sleep.ts";
import { invoices } from "../../../src/platform/db/schema/invoices.ts";
import type { HandedBack, HandedOver } from "../../../src/platform/http/handed-over.ts";
import { seedKey, seedMerchant, send } from "../../support/access.ts";
import { countingEnv } from "../../support/counting-env.ts";
import { freshUlid, keysOf } from "../../support/idempotency.ts";
import { testDb } from "../../support/worker-merchant.ts";

interface Shop {
  readonly merchantId: MerchantId;
  readonly secretKey: string;
  readonly publicKey: string;
  readonly productId: string;
  readonly poisonId: string;
}

let shop: Shop;

beforeAll(async () => {
  const merchantId = await seedMerchant();
  // The key was used just now, so no last use is recorded with the requests.
  const lastUsedAtMs = Date.now();
  const secretKey = await seedKey(merchantId, { lastUsedAtMs });
  const publicKey = await seedKey(merchantId, { kind: "PUBLIC", lastUsedAtMs });
  const made = async (name: string) => {
    const ask = { method: "POST", key: secretKey, body: { name, price: 5, askForName: true } };
    return String((await send(`/api/v1/merchants/merchant/${merchantId}/products`, ask)).json?.id);
  };
  shop = { merchantId, secretKey, publicKey, productId: await made("Coffee"), poisonId: await made("poison") };
  await testDb.run(
    sql`create trigger poison before insert on invoices when new.name = 'poison' begin select raise(abort, 'poisoned'); end`,
  );
});

/** The object's requests and its calls; `hold` delays every D1 call until `release`. */
function opened() {
  let gate = Promise.withResolvers<void>();
  gate.resolve();
  const DB = new Proxy(env.DB, {
    get: (db, name) => {
      if (name !== "batch") return Reflect.get(db, name).bind(db);
      return async (statements: D1PreparedStatement[]) => {
        await gate.promise;
        return db.batch(statements);
      };
    },
  });
  const { bindings, calls } = countingEnv({ DB });
  const reserved: string[] = [];
  const { reserve, ...keys } = keysOf(env.MERCHANT_OBJECT, shop.merchantId);
  const requests = new MerchantRequests({
    env: { ...env, ...bindings, RATE_LIMIT_PER_MINUTE: "0" },
    merchantId: shop.merchantId,
    background: () => {},
    keys: {
      ...keys,
      reserve: (...args) => {
        reserved.push(args[0]);
        return reserve(...args);
      },
    },
  });
  return {
    requests,
    calls,
    reserved,
    hold: () => {
      gate = Promise.withResolvers();
    },
    release: () => gate.resolve(),
  };
}

const fresh = () => ({ requestId: makeId("req", freshUlid()), ip: null, query: {}, bytes: 60 });

function create(of: { readonly isPublic?: boolean; readonly bytes?: number } = {}): HandedOver {
  const { isPublic = false, bytes = 60 } = of;
  const { merchantId, secretKey, publicKey } = shop;
  return {
    ...fresh(),
    operationId: "createInvoice",
    isPublic,
    bytes,
    path: `/api/v1/merchants/merchant/${merchantId}/invoices`,
    params: { merchantId },
    headers: { "x-api-key": isPublic ? publicKey : secretKey, "idempotency-key": crypto.randomUUID() },
    json: { name: "Order", rawAmount: 5 },
  };
}

function form(productId: string, fields: Readonly<Record<string, string>> = { name: "Jane" }): HandedOver {
  return {
    ...fresh(),
    operationId: "buyProduct",
    isPublic: true,
    path: `/buy/${productId}`,
    params: { productId },
    headers: {},
    json: { token: crypto.randomUUID(), ...fields },
  };
}

const many = <T>(count: number, each: (n: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, n) => each(n));

const invoicesMade = () => testDb.$count(invoices, eq(invoices.merchantId, shop.merchantId));

/** The outcome of a request, as one word. */
function outcomeOf({ result }: HandedBack): string {
  if (!result.ok) return result.error.code;
  const { invoiceId, problems } = JSON.parse(result.value.body ?? "");
  if (problems !== undefined) return `problems: ${JSON.stringify(problems)}`;
  return invoiceId === undefined ? String(result.value.status) : "bought";
}

async function outcomes(requests: MerchantRequests, all: readonly HandedOver[]): Promise<readonly string[]> {
  return (await Promise.all(all.map((handed) => requests.answer(structuredClone(handed))))).map(outcomeOf);
}

describe("forms on product pages", () => {
  it("share their storage calls with each other and with invoices created through the API", async () => {
    const before = await invoicesMade();
    const { requests, calls } = opened();
    const all = [...many(24, () => create()), ...many(12, () => form(shop.productId))];
    expect(new Set(await outcomes(requests, all))).toEqual(new Set(["201", "bought"]));
    expect((await invoicesMade()) - before).toBe(36);
    // Handled one by one, the requests would take 48 reads and 36 writes.
    expect(calls.filter((call) => call === "D1 read").length).toBeLessThan(8);
    expect(calls.filter((call) => call === "D1 write").length).toBeLessThan(8);
  });

  it("that fail do not affect others: one that the database refuses, one for a deleted product, and one without the required name", async () => {
    const before = await invoicesMade();
    const { requests } = opened();
    const good = [...many(12, () => create()), ...many(6, () => form(shop.productId))];
    const bad = [form(shop.poisonId), form("prd_01ARZ3NDEKTSV4RRFFQ69G5FAV"), form(shop.productId, {})];
    const said = await outcomes(requests, [...good, ...bad]);
    expect(said.slice(0, 18)).toEqual([...many(12, () => "201"), ...many(6, () => "bought")]);
    expect(said.slice(18)).toEqual(["INTERNAL_ERROR", "PRODUCT_NOT_FOUND", 'problems: {"name":"required"}']);
    expect((await invoicesMade()) - before).toBe(18);
  });
});

describe("an object's limits", () => {
  const BODY = 65_536;
  const FULL = "STORAGE_UNAVAILABLE";

  it.each([
    { what: "1,000 requests", most: 1_000, of: { bytes: 60 } },
    { what: "8 MiB of bodies", most: 128, of: { bytes: BODY } },
    { what: "250 requests from browsers", most: 250, of: { bytes: 60, isPublic: true } },
    { what: "2 MiB of bodies from browsers", most: 32, of: { bytes: BODY, isPublic: true } },
  ])(
    "include $what: the next request is refused before it reads or reserves anything, until earlier requests have ended",
    async ({ most, of }) => {
      const { requests, calls, reserved, hold, release } = opened();
      hold();
      const under = many(most, () => requests.answer(create(of)));
      expect(await soon(under.at(-1))).toBe("waits");
      const before = calls.length;
      expect(await soon(requests.answer(create(of)))).toBe(FULL);
      expect([calls.length, reserved]).toEqual([before, []]);
      release();
      // Some of a thousand requests may wait too long for their read; these have reserved nothing either.
      const answered = (await Promise.all(under)).map(outcomeOf);
      expect(answered.filter((outcome) => outcome !== "201" && outcome !== FULL)).toEqual([]);
      expect(reserved).toHaveLength(answered.filter((outcome) => outcome === "201").length);
      hold();
      const again = many(most, () => requests.answer(create(of)));
      expect(await soon(again.at(-1))).toBe("waits");
      expect(await soon(requests.answer(create(of)))).toBe(FULL);
      release();
      await Promise.all(again);
    },
  );
});

/** The outcome of a request, or "waits" if it still waits for a D1 call. */
async function soon(answer: Promise<HandedBack> | undefined): Promise<string> {
  const later = sleep(200).then(() => undefined);
  const first = await Promise.race([answer, later]);
  return first === undefined ? "waits" : outcomeOf(first);
}
