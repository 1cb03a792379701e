// Whether a merchant can be paid now, compared with creates through the Worker's own entry, in production.
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import fc from "fast-check";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { HOUR_MS, isoTime, MINUTE_MS } from "../../../src/lib/time.ts";
import { readinessBody } from "../../../src/notifications/readiness/contract.ts";
import { SEEN_LATE } from "../../../src/notifications/readiness/finding.ts";
import { merchants } from "../../../src/platform/db/schema/merchants.ts";
import { networkCursors } from "../../../src/platform/db/schema/network-cursors.ts";
import { restores } from "../../../src/platform/db/schema/restores.ts";
import { wallets } from "../../../src/platform/db/schema/wallets.ts";
import { fixedRateTable } from "../../../src/rates/fixed-rates.ts";
import { type Ask, deploymentWith, expectRefusal, seedKey, seedMerchant, send } from "../../support/access.ts";
import { countingEnv } from "../../support/counting-env.ts";
import { expectDocumented } from "../../support/documented.ts";
import { seedCursor } from "../../support/payments.ts";
import { doSetUp, FRESH, ownDatabase } from "../../support/production.ts";
import { triesOf } from "../../support/property-runs.ts";
import { putPhase, restoredEnv } from "../../support/restores.ts";
import { standIns } from "../../support/stand-ins.ts";
import { xpubWallet } from "../../support/wallet-bodies.ts";
import { testDb } from "../../support/worker-merchant.ts";

const BTC = { cryptocurrency: "BTC", network: "BTC" };
const SOURCES = JSON.stringify({ BTC: [{ kind: "esplora", url: "https://index.example" }] });

interface Of {
  readonly hasSource?: boolean;
  readonly hasRate?: boolean;
  readonly bindings?: Partial<Env>;
}

function bookWith(hasRate: boolean) {
  const table = async () => (hasRate ? fixedRateTable(Date.now()) : { assets: {}, fiat: {} });
  return standIns({ RATE_BOOK: { getByName: () => ({ table }) } });
}

/** A deployment in production whose rate book has the fixed rates, or none. */
function deployment({ hasSource = true, hasRate = true, bindings = {} }: Of) {
  return deploymentWith({
    ...FRESH,
    DB: ownDatabase(),
    CHAIN_SOURCES: hasSource ? SOURCES : "{}",
    ...bookWith(hasRate),
    // A real watcher would change the rows that the tests write.
    ...standIns({ NETWORK_WATCHER: { getByName: () => ({ wake: async () => undefined }) } }),
    ...bindings,
  });
}

async function shopWithBtc(changes: Partial<typeof wallets.$inferInsert> = {}) {
  const merchantId = await seedMerchant();
  const key = await seedKey(merchantId, { lastUsedAtMs: Date.now() + HOUR_MS });
  const path = (rest: string) => `/api/v1/merchants/merchant/${merchantId}${rest}`;
  const made = await send(path("/wallets"), { method: "POST", key, body: xpubWallet() });
  expect(made.status, made.text).toBe(201);
  if (Object.keys(changes).length > 0)
    await testDb.update(wallets).set(changes).where(eq(wallets.merchantId, merchantId));
  const asked = (of: Of) => {
    const ask = deployment(of);
    return (rest: string, more: Ask = {}) => ask(path(rest), { key, ...more });
  };
  return { merchantId, key, path, asked };
}

type Shop = Awaited<ReturnType<typeof shopWithBtc>>;

async function readiness({ asked }: Shop, of: Of = {}, query = "") {
  const { status, json, text } = await asked(of)(`/readiness${query}`);
  expect(status, text).toBe(200);
  expectDocumented(readinessBody, json);
  const body = readinessBody().parse(json);
  const coin = body.coins.find((each) => each.network === "BTC");
  if (coin === undefined) throw new Error("BTC is not listed");
  return { ...body, coin };
}

/** Whether an invoice with this coin is created, with an active payment method. */
async function isCreated({ asked }: Shop, of: Of): Promise<boolean> {
  const body = { name: "Order", rawAmount: 10, paymentMethods: [BTC] };
  const { status, json } = await asked(of)("/invoices", { method: "POST", body });
  return status === 201 && Object(json).paymentMethods[0].status === "ACTIVE";
}

beforeAll(() => doSetUp());
beforeEach(async () => {
  await testDb.delete(networkCursors);
  // A restore that another file has left unfinished would close the production deployment.
  await testDb.delete(restores);
});

const state = fc.record({
  wallet: fc.constantFrom("open", "disabled", "pending", "altered", "none"),
  hasSource: fc.boolean(),
  hasRate: fc.boolean(),
  cursor: fc.constantFrom("none", "read", "resting", "paused", "failing"),
  shop: fc.constantFrom("open", "suspended", "full"),
});

// About half of the states have at most one fault, so that each kind of fault decides some outcomes alone.
const WELL = { wallet: "open", hasSource: true, hasRate: true, cursor: "read", shop: "open" } as const;
const oneWrong = fc
  .tuple(state, fc.constantFrom("wallet", "hasSource", "hasRate", "cursor", "shop"))
  .map(([any, name]): typeof any => ({ ...WELL, [name]: any[name] }));

async function shopIn(of: typeof state extends fc.Arbitrary<infer T> ? T : never): Promise<Shop> {
  const wallet = {
    open: {},
    disabled: { isEnabled: false },
    pending: { usableFromMs: Date.now() + HOUR_MS },
    altered: { mac: "x" },
    none: { deletedAtMs: 1 },
  }[of.wallet];
  const shop = await shopWithBtc(wallet);
  const changes = { open: {}, suspended: { suspendedAtMs: 1 }, full: { activeInvoices: 5, maxActiveInvoices: 5 } };
  if (of.shop !== "open") await testDb.update(merchants).set(changes[of.shop]).where(eq(merchants.id, shop.merchantId));
  await testDb.delete(networkCursors);
  const failing = { degradedSinceMs: Date.now() - 9 * MINUTE_MS, lastOutage: "TIMEOUT" };
  const cursor = { read: {}, resting: { isResting: true }, paused: { pausedAtMs: 1 }, failing };
  if (of.cursor !== "none") await seedCursor("BTC", cursor[of.cursor]);
  return shop;
}

describe("readiness", () => {
  it("is true for a coin if and only if an invoice with it can be created, apart from sources that do not answer", async () => {
    const property = fc.asyncProperty(fc.oneof(oneWrong, state), async (of) => {
      const shop = await shopIn(of);
      const { canBePaid, coin, reasons } = await readiness(shop, of);
      const others = coin.reasons.filter(({ code }) => !SEEN_LATE.includes(code));
      expect(await isCreated(shop, of)).toBe(reasons.length === 0 && others.length === 0);
      expect(coin.canBePaid).toBe(reasons.length === 0 && coin.reasons.length === 0);
      expect(canBePaid).toBe(coin.canBePaid);
      const isUnread = coin.warnings.some(({ code }) => code === "NOT_YET_READ");
      expect(isUnread).toBe(of.cursor === "none" && of.hasSource);
    });
    await fc.assert(property, { numRuns: triesOf({ usual: 40, deep: 2_000 }), endOnFailure: true });
  }, 240_000);

  it("takes one database call and one call to the rate book", async () => {
    const shop = await shopWithBtc();
    const { bindings, calls } = countingEnv({
      ...bookWith(true),
      RATE_SOURCE: "kraken,coinbase",
      CHAIN_SOURCES: SOURCES,
    });
    const { status } = await deploymentWith(bindings)(shop.path("/readiness"), { key: shop.key });
    expect(status).toBe(200);
    expect(calls.filter((call) => call !== "RATE_LIMITER.take")).toEqual(["D1 read", "RATE_BOOK.table"]);
  });

  it("shows during a restore that no invoice can be created", async () => {
    const shop = await shopWithBtc();
    const restored = restoredEnv(Date.now());
    await putPhase(restored, "AMOUNTS");
    const of = { bindings: { RESTORE_EPOCH: restored.RESTORE_EPOCH } };
    const { reasons } = await readiness(shop, of);
    expect(reasons.map(({ code }) => code)).toEqual(["RESTORING"]);
    expect(await isCreated(shop, of)).toBe(false);
    await env.DB.prepare("delete from restores").run();
  });

  it("can be requested for prices in a given currency", async () => {
    const shop = await shopWithBtc();
    expect((await readiness(shop, {}, "?currency=eur")).currency).toBe("EUR");
    expectRefusal(await shop.asked({})("/readiness?currency=XXY"), 400, "VALIDATION_FAILED");
  });

  it("shows when a source that refuses may be asked again, but not its URL", async () => {
    const shop = await shopWithBtc();
    const openUntilMs = Date.now() + HOUR_MS;
    const sources = [{ kind: "esplora", failures: 4, openUntilMs, lastOutage: "RATE_LIMITED" }];
    const degraded = { degradedSinceMs: Date.now() - 9 * MINUTE_MS, lastOutage: "RATE_LIMITED" };
    await seedCursor("BTC", { ...degraded, progress: JSON.stringify({ sources }) });
    const { coin } = await readiness(shop);
    expect(coin.reasons).toEqual([
      expect.objectContaining({
        code: "SOURCE_REFUSES",
        until: isoTime(openUntilMs),
        since: isoTime(degraded.degradedSinceMs),
      }),
    ]);
    expect(JSON.stringify(coin)).not.toContain("index.example");
  });
});
