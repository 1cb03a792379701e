// A till with wallets and invoices, and the dependencies of operations on it.
import { AmountAllocations } from "../../../src/commerce/amounts/amount-allocations.ts";
import { type AmountPlace, placeName } from "../../../src/commerce/amounts/amount-place.ts";
import { putAmount } from "../../../src/commerce/amounts/store.ts";
import type { Invoice } from "../../../src/commerce/invoice-records/invoice.ts";
import { insertInvoice, insertTimelineItem, putMethod } from "../../../src/commerce/invoice-records/store.ts";
import type { RefreshDependencies } from "../../../src/commerce/invoices/refresh-invoice.ts";
import { activeMethod } from "../../../src/commerce/payment-methods/payment-method.ts";
import { type MacKeys, signRow } from "../../../src/commerce/wallet-records/row-mac.ts";
import { walletMacSubject } from "../../../src/commerce/wallet-records/wallet.ts";
import type { ApplyDependencies } from "../../../src/detection/matching/apply-transfers.ts";
import { type InvoiceId, type MerchantId, makeId } from "../../../src/lib/ids.ts";
import { DAY_MS, SECOND_MS } from "../../../src/lib/time.ts";
import { batch } from "../../../src/platform/db/batch.ts";
import { merchants } from "../../../src/platform/db/schema/merchants.ts";
import { wallets } from "../../../src/platform/db/schema/wallets.ts";
import { seedAmounts } from "../../support/amount-objects.ts";
import type { Lab } from "../engine/lab.ts";
import type { Client, World } from "../engine/world.ts";

export const MERCHANT: MerchantId = "mer_00000000000000000000000000";
const MAC_KEYS: MacKeys = [{ id: "test", secret: new Uint8Array(32).fill(7) }];
/** When each schedule starts; the invoices are one minute older. */
export const NOW_MS = 1_800_000_000_000;
const OPENED_MS = NOW_MS - 60 * SECOND_MS;
export const EVM_ADDRESS = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
export const OWN_ADDRESS = "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu";
const UNPAID_ADDRESS = "bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g";

export const USDT = { cryptocurrency: "USDT", network: "ETH" } as const;
export const USDC = { cryptocurrency: "USDC", network: "ETH" } as const;
export const BTC = { cryptocurrency: "BTC", network: "BTC" } as const;
export const ETHER = { cryptocurrency: "ETH", network: "ETH" } as const;
const WALLETS = [
  { ...USDT, id: makeId("wal", `${"0".repeat(25)}1`), walletType: "DIRECT_WALLET", address: EVM_ADDRESS, xpub: null },
  { ...USDC, id: makeId("wal", `${"0".repeat(25)}2`), walletType: "DIRECT_WALLET", address: EVM_ADDRESS, xpub: null },
  { ...BTC, id: makeId("wal", `${"0".repeat(25)}3`), walletType: "XPUB_WALLET", address: null, xpub: "zpub" },
  { ...ETHER, id: makeId("wal", `${"0".repeat(25)}4`), walletType: "DIRECT_WALLET", address: EVM_ADDRESS, xpub: null },
] as const;

export interface Order {
  readonly id: InvoiceId;
  readonly pair: typeof USDT | typeof USDC | typeof BTC | typeof ETHER;
  readonly address: string;
  readonly addressIndex: number | null;
  /** The amount in the coin's units; for tokens it is the same number as `expectedMicros`. */
  readonly units: bigint;
  readonly expectedMicros: bigint;
  readonly expiresAtMs: number;
}

export const orderOf = (
  n: number,
  of: Omit<Order, "id" | "expiresAtMs"> & { readonly expiresAtMs?: number },
): Order => ({
  expiresAtMs: NOW_MS + DAY_MS,
  ...of,
  id: makeId("inv", String(n).padStart(26, "0")),
});
export const shared = { address: EVM_ADDRESS, addressIndex: null };
/** An invoice that expires soon after the schedule begins, long after it was paid. The sweep and a reader close it, and the payment reopens it. */
export const BRIEF = orderOf(1, {
  pair: USDT,
  ...shared,
  units: 100_000_000n,
  expectedMicros: 100_000_000n,
  expiresAtMs: NOW_MS + 5,
});
/** An invoice that is cancelled while it is paid. */
export const CANCELLED = orderOf(2, { pair: USDT, ...shared, units: 300_000_000n, expectedMicros: 300_000_000n });
/** An invoice that is paid in two parts to an address that could be shared, so the remaining amount is reserved separately. */
export const IN_PARTS = orderOf(3, { pair: USDC, ...shared, units: 100_000_000n, expectedMicros: 100_000_000n });
export const OWN = orderOf(4, {
  pair: BTC,
  address: OWN_ADDRESS,
  addressIndex: 0,
  units: 200_000n,
  expectedMicros: 100_000_000n,
});
export const UNPAID = orderOf(5, {
  pair: BTC,
  address: UNPAID_ADDRESS,
  addressIndex: 1,
  units: 200_000n,
  expectedMicros: 100_000_000n,
});
export const ORDERS = [BRIEF, CANCELLED, IN_PARTS, OWN, UNPAID];

/** Stores the merchant, its wallets and its invoices before the first schedule of the lab. */
export async function stockTill(lab: Lab, orders: readonly Order[] = ORDERS): Promise<void> {
  const db = lab.db(async (_, work) => work());
  const times = { createdAtMs: OPENED_MS, updatedAtMs: OPENED_MS };
  await db.insert(merchants).values({ id: MERCHANT, name: "Shop", ...times });
  for (const of of WALLETS) {
    const mac = signRow(MAC_KEYS, walletMacSubject({ ...of, merchantId: MERCHANT }));
    const isXpub = of.walletType === "XPUB_WALLET";
    const xpub = { scheme: "BIP84", keyHash: "key", lastUsedIndex: 1, nextIndex: 2, gap: 2 } as const;
    const settings = { requiredConfirmations: 1, isEnabled: true, ...times };
    await db.insert(wallets).values({ ...of, merchantId: MERCHANT, ...settings, ...(isXpub ? xpub : {}), ...mac });
  }
  for (const order of orders) {
    const { id: invoiceId, pair, address, addressIndex, units } = order;
    const invoice = invoiceRow(order);
    const item = { id: makeId("itl", order.id.slice(4)), invoiceId, position: 1 } as const;
    const amount = { units, priceUnits: units, invoiceId, merchantId: MERCHANT, rank: 3 as const };
    const held = {
      ...pair,
      address,
      ...amount,
      heldUntilMs: invoice.monitorUntilMs,
      openUntilMs: invoice.expiresAtMs,
      releaseAfterMs: invoice.monitorUntilMs,
      releasedAtMs: null,
      createdAtMs: OPENED_MS,
    };
    await batch(db, [
      ...insertInvoice(db, invoice),
      insertTimelineItem(db, { ...item, paymentStatus: "AWAITING_PAYMENT", timeMs: OPENED_MS }),
      putMethod(db, methodRow(order, invoice)),
      ...(addressIndex === null ? [putAmount(db, held)] : []),
    ]);
    if (addressIndex !== null) continue;
    const place = { ...pair, address };
    amountsAt(lab, place);
    seedAmounts(lab.storageOf(amountsName(place)), [held]);
  }
}

const amountsName = (place: AmountPlace) => `amounts ${placeName(place)}`;
const amountsAt = (lab: Lab, place: AmountPlace) =>
  lab.object(amountsName(place), (storage) => new AmountAllocations(storage, place));

function methodRow({ pair, address, addressIndex, units }: Order, invoice: Invoice) {
  const of = WALLETS.find((each) => each.network === pair.network && each.cryptocurrency === pair.cryptocurrency);
  if (of === undefined) throw new Error(`no wallet for ${pair.cryptocurrency}`);
  const wallet = {
    ...of,
    merchantId: MERCHANT,
    derivationPath: null,
    scheme: null,
    keyHash: null,
    requiredConfirmations: 1,
    isEnabled: true,
    lastUsedIndex: null,
    nextIndex: null,
    gap: null,
    mac: "",
    macKeyId: "",
    frozenAtMs: null,
    usableFromMs: 0,
    createdAtMs: OPENED_MS,
    updatedAtMs: OPENED_MS,
    deletedAtMs: null,
  };
  const rate = pair.network === "BTC" ? "50000" : "1";
  return activeMethod({
    invoice,
    wallet,
    macKeys: MAC_KEYS,
    nowMs: OPENED_MS,
    quote: { rate, rateAtMs: OPENED_MS, sources: ["a", "b"], amountUnits: units },
    destination: { address, addressIndex, amountUnits: units },
  });
}

function invoiceRow({ id, expectedMicros, expiresAtMs }: Order): Invoice {
  return {
    id,
    merchantId: MERCHANT,
    customerId: null,
    productId: null,
    externalId: null,
    name: "Order",
    description: null,
    redirectUrl: null,
    metadata: null,
    amountMicros: expectedMicros,
    currency: "USD",
    status: "AWAITING_PAYMENT",
    receivedMicros: 0n,
    confirmedMicros: 0n,
    isLate: false,
    needsReview: false,
    resolution: null,
    warnings: "[]",
    underpaidToleranceMicros: 1_000_000n,
    overpaidToleranceMicros: 5_000_000n,
    latePaymentPolicy: "REVIEW",
    rateLockSeconds: 3_600,
    monitorSeconds: 86_400,
    origin: "API",
    eventSequence: 0,
    timelinePosition: 1,
    expiresAtMs,
    lateGraceUntilMs: null,
    monitorUntilMs: expiresAtMs + DAY_MS,
    cancelledAtMs: null,
    closedAtMs: null,
    createdAtMs: OPENED_MS,
    updatedAtMs: OPENED_MS,
  };
}

export function effectsOf(lab: Lab, world: World, client: Client): RefreshDependencies & ApplyDependencies {
  const { nowMs } = world;
  const effect = world.effectOf(client);
  const price = (usd: string) => ({ usd, atMs: nowMs, sources: ["a", "b"] });
  return {
    db: lab.db(effect),
    sleep: world.sleepOf(client),
    newOperationId: () => world.newUlid(),
    nowMs,
    table: async () => ({
      assets: { USDT: price("1"), USDC: price("1"), BTC: price("50000"), ETH: price("1") },
      fiat: {},
    }),
    macKeys: MAC_KEYS,
    isWatched: () => true,
    hasSource: () => true,
    wakeWatcher: () => {},
    // All blocks of these chains are at least 20 s old when a schedule starts.
    notePaid: ({ seconds }) => {
      if (seconds < 20) throw new Error(`an invoice was paid ${seconds} s after its last block`);
    },
    allocate: () => Promise.reject(new Error("nobody activates here")),
    allocateAmounts: (place, requests) => effect("allocate amounts", () => amountsAt(lab, place).allocate(requests)),
    body: { macKeys: MAC_KEYS, publicUrl: "https://pay.example", nowMs },
  };
}
