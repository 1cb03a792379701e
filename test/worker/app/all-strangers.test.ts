// Strangers of every kind take as much as they can at once, while the merchant's own server creates invoices. All of the server's invoices must be
// payable (docs/limits.md). Even without proof of the merchant's address, strangers cannot take the server's share of the amounts at each price.
import { eq, inArray } from "drizzle-orm";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { LIMITS } from "../../../src/lib/limits.ts";
import { paymentMethods } from "../../../src/platform/db/schema/invoices.ts";
import { merchants } from "../../../src/platform/db/schema/merchants.ts";
import { appHolder, pendingBrowser, SECOND_FACTOR, stopClock, wrongCode } from "../../support/factors.ts";
import { inTens, openShop } from "../../support/public-shop.ts";
import { type Ordered, ordered, prove } from "../../support/shared-place.ts";
import {
  burglars,
  buyers,
  claimants,
  freshIps,
  greedyBrowser,
  hoarders,
  intruders,
  lookers,
  manyBrowsers,
  onlookers,
  squatters,
} from "../../support/strangers.ts";
import { BTC, directWallet, USDT, xpubWallet } from "../../support/wallet-bodies.ts";
import { type TestMerchant, testDb } from "../../support/worker-merchant.ts";

const AS_DEPLOYED: Partial<Env> = {};
const PRICE = 10;
const MAX_PUBLIC = 40;
const SQUATTERS = 6;
/** Enough invoices for one IP address to use up its hourly claims. */
const CLAIMED = LIMITS.claimsPerIpAndHour / LIMITS.claimsPerInvoiceAndHour + 1;

/** The amounts at each price that an unproven merchant's server keeps: public callers can take only the other half. */
const SERVERS_AMOUNTS = LIMITS.amountsWithoutProof / 2;

/** A shop, and what anyone can know about it: its public key, its product's page, its owner's address. */
async function knownShop() {
  const direct = directWallet();
  const extended = xpubWallet();
  const of = { price: PRICE, wallets: [direct, extended], env: AS_DEPLOYED };
  const open = await openShop({ maxPublicInvoices: MAX_PUBLIC }, of);
  const { email, secret } = await appHolder();
  const burglar = await pendingBrowser(email);
  const guess = () => burglar.post(`${SECOND_FACTOR}/verify`, { code: wrongCode(secret) });
  // Customers know these invoices, so strangers may know them too.
  const orders = await inTens(CLAIMED, () => ordered(open.shop, USDT, 50));
  return { open, direct, extended, owner: { email, guess }, orders: orders.map(({ invoiceId }) => String(invoiceId)) };
}

type KnownShop = Awaited<ReturnType<typeof knownShop>>;

/** Runs every kind of stranger until it is refused; `extended` is the key that squatters register. */
async function everyStranger({ open, direct, owner, orders }: KnownShop, extended: object) {
  const ip = freshIps();
  const browsers = async () => {
    const [greedy, bought] = await Promise.all([greedyBrowser(open, ip, BTC), buyers(open, ip)]);
    const many = await manyBrowsers(open, ip, USDT);
    return { greedy, bought, many, late: await open.buy(ip(61)) };
  };
  const [public_, amounts, addresses, intruded, burgled, claimed, viewed, looked, hoarded] = await Promise.all([
    browsers(),
    squatters(SQUATTERS, direct, USDT),
    squatters(SQUATTERS, extended, BTC),
    intruders(open),
    burglars(owner.email, ip, owner.guess),
    claimants(orders, ip),
    onlookers(orders[0] ?? "", ip),
    lookers(),
    hoarders(),
  ]);
  return { ...public_, amounts, addresses, intruded, burgled, claimed, viewed, looked, hoarded };
}

/** Checks that each kind of stranger reached its limit. */
function expectAllRefused(met: Awaited<ReturnType<typeof everyStranger>>): void {
  expect(met.amounts.taken).toHaveLength(SQUATTERS * LIMITS.amountsWithoutProof);
  expect(met.addresses.taken).toHaveLength(SQUATTERS * LIMITS.addressesWithoutProof);
  expect(met.greedy.made).toHaveLength(LIMITS.publicInvoicesPerIp);
  const { amounts, addresses, greedy, ...others } = met;
  expect({ ...others, amounts: amounts.refused, addresses: addresses.refused, greedy: greedy.refused }).toMatchObject({
    amounts: { "LIMIT_REACHED amountsWithoutProof": SQUATTERS },
    addresses: { "LIMIT_REACHED addressesWithoutProof": SQUATTERS },
    greedy: { "LIMIT_REACHED publicInvoicesPerIp": 10, RATE_LIMITED: 10 },
    bought: { 429: 2 },
    many: { "LIMIT_REACHED maxPublicInvoices": 14 },
    late: 409,
    claimed: { "claims of one address": 6, "claims of one invoice": 6 },
    viewed: { socket: 3, view: 10 },
    intruded: {
      UNAUTHORIZED: 30,
      MERCHANT_MISMATCH: 30,
      PUBLIC_KEY_FORBIDDEN: 30,
      BODY_TOO_LARGE: 30,
      unauthenticated: 30,
      "missing-permission": 30,
    },
    burgled: { RATE_LIMITED: 3, INVALID_CODE: 10, TOO_MANY_ATTEMPTS: 4 },
    looked: { TRANSACTION_NOT_FOUND: 60, RATE_LIMITED: 2 },
    hoarded: {
      "LIMIT_REACHED merchantsMadePerUserAndDay": 2,
      "LIMIT_REACHED imagesPerMerchant": 3,
      "mail waits": 3,
    },
  });
}

/** Creates invoices as the server, alternating between wallets; `priceOf` gives the price of the nth invoice at the shared address. */
const work = (shop: TestMerchant, count: number, priceOf: (n: number) => number): Promise<readonly Ordered[]> =>
  inTens(count, (n) => (n % 2 === 0 ? ordered(shop, USDT, priceOf(n / 2)) : ordered(shop, BTC, PRICE)));

async function indexesOf(invoices: readonly Ordered[]): Promise<readonly number[]> {
  const indexes: number[] = [];
  for (let at = 0; at < invoices.length; at += 50) {
    const ids = invoices.slice(at, at + 50).map(({ invoiceId }) => invoiceId);
    const rows = await testDb.select().from(paymentMethods).where(inArray(paymentMethods.invoiceId, ids));
    indexes.push(...rows.flatMap(({ addressIndex }) => (addressIndex === null ? [] : [addressIndex])));
  }
  return indexes;
}

/** Checks that all invoices can be paid, and that no two have the same amount or address. */
async function expectServed(made: readonly Ordered[]): Promise<void> {
  expect(made.filter(({ status }) => status !== "ACTIVE").map(({ reason }) => reason)).toEqual([]);
  const direct = made.filter(({ network }) => network === "ETH");
  const extended = made.filter(({ network }) => network === "BTC");
  expect([direct.length, extended.length]).toEqual([made.length / 2, made.length / 2]);
  expect(new Set(direct.map(({ amount }) => amount)).size).toBe(direct.length);
  expect(new Set(extended.map(({ address }) => address)).size).toBe(extended.length);
  const indexes = await indexesOf(extended);
  expect(new Set(indexes).size).toBe(extended.length);
  // No index is skipped, except those used by the proof, the strangers' addresses and the strangers' refused invoices.
  expect(Math.max(...indexes)).toBeLessThan(
    extended.length + 1 + SQUATTERS * LIMITS.addressesWithoutProof + MAX_PUBLIC,
  );
}

const countsOf = async ({ merchantId }: TestMerchant) => {
  const [row] = await testDb.select().from(merchants).where(eq(merchants.id, merchantId));
  return { active: row?.activeInvoices, public: row?.publicInvoices };
};

// Stops the clock, so that no rate limit window ends during the test, however slow the machine is.
beforeEach(stopClock);
afterEach(() => {
  vi.useRealTimers();
});

describe("a merchant's server under every kind of attack by strangers at once", () => {
  it("creates all of its 200 invoices at one price if payments have proven its address and its key", async () => {
    const known = await knownShop();
    const { shop } = known.open;
    await prove(shop, USDT, { usd: 60, decimals: 6 });
    await prove(shop, BTC, { usd: 60, decimals: 8 });
    const [met, made] = await Promise.all([everyStranger(known, known.extended), work(shop, 200, () => PRICE)]);
    expectAllRefused(met);
    // The server continues after the strangers have taken all they can.
    const more = await work(shop, 20, () => PRICE);
    await expectServed([...made, ...more]);
    expect(await countsOf(shop)).toEqual({ active: 220 + CLAIMED, public: MAX_PUBLIC });
  });

  it("creates all of its 200 invoices at 25 prices without proof, even if strangers have registered its address", async () => {
    const known = await knownShop();
    const { shop } = known.open;
    // The server uses the strangers' price last, after they have taken amounts at that price. Strangers do not know the shop's extended key.
    const theirs = xpubWallet();
    const [met, made] = await Promise.all([
      everyStranger(known, theirs),
      work(shop, 200, (n) => PRICE + 24 - Math.floor(n / SERVERS_AMOUNTS)),
    ]);
    expectAllRefused(met);
    await expectServed(made);
    expect(await countsOf(shop)).toEqual({ active: 200 + CLAIMED, public: MAX_PUBLIC });
  });
});
