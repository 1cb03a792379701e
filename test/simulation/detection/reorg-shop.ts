// Two merchants whose invoices are paid on a tree's chain: with a direct wallet that all invoices of a merchant share, or an xpub wallet with one
// address per invoice. Rows are written by the service's own stores.

import { putAmount } from "../../../src/commerce/amounts/store.ts";
import { beginWatch } from "../../../src/commerce/cursors/store.ts";
import type { Invoice } from "../../../src/commerce/invoice-records/invoice.ts";
import { insertInvoice, insertTimelineItem, putMethod } from "../../../src/commerce/invoice-records/store.ts";
import { activeMethod } from "../../../src/commerce/payment-methods/payment-method.ts";
import { parseQuotes, printQuotes } from "../../../src/commerce/quotes/quotes.ts";
import { type MacKeys, signRow } from "../../../src/commerce/wallet-records/row-mac.ts";
import { type Wallet, walletMacSubject } from "../../../src/commerce/wallet-records/wallet.ts";
import { type InvoiceId, type MerchantId, makeId, type WalletId } from "../../../src/lib/ids.ts";
import { SYSTEM_TRAIL } from "../../../src/platform/audit/entry.ts";
import { batch } from "../../../src/platform/db/batch.ts";
import { openDb } from "../../../src/platform/db/client.ts";
import { merchants } from "../../../src/platform/db/schema/merchants.ts";
import { wallets } from "../../../src/platform/db/schema/wallets.ts";
import type { RateTable } from "../../../src/rates/quote.ts";
import { allocatorsOf } from "../../support/amount-objects.ts";
import { type Effect, migratedDatabase, savepoints, sqliteD1, statementCache } from "../engine/sqlite-d1.ts";

export const START_MS = 1_800_000_000_000;
export const SHARED_ADDRESS = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
/** Other addresses on account chains: the first merchant's address for a second coin, and the second merchant's address. */
export const ADDRESSES = {
  ofSecondCoin: "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
  ofOther: "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
} as const;
const MERCHANTS: readonly [MerchantId, MerchantId] = [
  "mer_00000000000000000000000000",
  "mer_00000000000000000000000001",
];
export const MAC_KEYS: MacKeys = [{ id: "test", secret: new Uint8Array(32).fill(7) }];

/** An invoice of a tree, which asks for one asset. */
export interface TreeInvoice {
  readonly id: InvoiceId;
  /** Which of the two merchants owns the invoice. */
  readonly merchant: 0 | 1;
  readonly address: string;
  readonly network: string;
  readonly cryptocurrency: string;
  /** 0 if any amount pays it. */
  readonly expectedMicros: bigint;
  /** Null if any amount pays it. */
  readonly askedUnits: bigint | null;
  readonly underpaidToleranceMicros: bigint;
  readonly overpaidToleranceMicros: bigint;
  readonly latePaymentPolicy: "REVIEW" | "ACCEPT";
  readonly expiresAtMs: number;
  readonly monitorUntilMs: number;
  readonly requiredConfirmations: number;
}

/** The BTC wallet has an extended key instead of an address. */
const WALLETS = [
  { cryptocurrency: "BTC", network: "BTC", address: null, merchant: 0 },
  ...["ETH", "CRO", "TRX"].flatMap((network) => [
    { cryptocurrency: "USDT", network, address: SHARED_ADDRESS, merchant: 0 as const },
    { cryptocurrency: "USDT", network, address: ADDRESSES.ofOther, merchant: 1 as const },
  ]),
  { cryptocurrency: "ETH", network: "ETH", address: SHARED_ADDRESS, merchant: 0 },
  { cryptocurrency: "USDC", network: "ETH", address: ADDRESSES.ofSecondCoin, merchant: 0 },
  { cryptocurrency: "USDC", network: "CRO", address: ADDRESSES.ofSecondCoin, merchant: 0 },
] as const;

export const RATES = { USDT: "1", USDC: "1", BTC: "50000", ETH: "2000" } as const;

function ratesAt(nowMs: number): RateTable {
  const of = (usd: string) => ({ usd, atMs: nowMs, sources: ["a", "b"] });
  return { assets: { USDT: of(RATES.USDT), USDC: of(RATES.USDC), BTC: of(RATES.BTC), ETH: of(RATES.ETH) }, fiat: {} };
}

export type Row = Readonly<Record<string, string | number | null>>;

export class ReorgShop {
  readonly #sqlite = migratedDatabase();
  readonly #prepared = statementCache(this.#sqlite);
  readonly #transact = savepoints(this.#sqlite);
  /** Identifies the current tree: `open` replaces it. */
  opened: object = {};
  readonly #wallets = WALLETS.map((of, n) => walletOf(makeId("wal", String(n).padStart(26, "0")), of));

  /** A drizzle client that routes every call through `effect`. */
  db(effect: Effect) {
    return openDb(this.d1(effect));
  }

  d1(effect: Effect): D1Database {
    return sqliteD1(this.#prepared, this.#transact, effect);
  }

  async stock(): Promise<void> {
    const db = this.db(async (_, work) => work());
    for (const id of MERCHANTS)
      await db.insert(merchants).values({ id, name: "Shop", createdAtMs: START_MS, updatedAtMs: START_MS });
    for (const wallet of this.#wallets) await db.insert(wallets).values(wallet);
  }

  /** Adds merchants with a wallet on the shared address. */
  async share(merchantCount: number, network = "ETH"): Promise<void> {
    const db = this.db(async (_, work) => work());
    const wallet = this.#wallets.find((each) => each.address === SHARED_ADDRESS && each.network === network);
    if (wallet === undefined) throw new Error("no wallet on the shared address");
    for (let n = 0; n < merchantCount; n++) {
      const ulid = String(MERCHANTS.length + n).padStart(26, "0");
      const merchantId = makeId("mer", ulid);
      const times = { createdAtMs: START_MS, updatedAtMs: START_MS };
      await db.insert(merchants).values({ id: merchantId, name: "Neighbour", ...times });
      await db.insert(wallets).values({ ...wallet, id: makeId("wal", `9${ulid.slice(1)}`), merchantId });
    }
  }

  /** Stores the invoices of a tree as just created, and starts watching them. */
  async open(invoices: readonly TreeInvoice[], { hasQuorum = false } = {}): Promise<void> {
    this.opened = {};
    const db = this.db(async (_, work) => work());
    if (hasQuorum) this.run("update merchants set quorum_above_micros = 0");
    const [first] = invoices;
    if (first === undefined) throw new Error("a tree without an invoice");
    await batch(db, [
      beginWatch(db, first.network, START_MS),
      ...invoices.flatMap((each) => {
        const invoice = invoiceRow(each);
        const method = this.#methodOf(each, invoice);
        const item = { id: makeId("itl", each.id.slice(4)), invoiceId: each.id, position: 1 };
        const { network, cryptocurrency, address } = each;
        const held = {
          invoiceId: each.id,
          merchantId: MERCHANTS[each.merchant],
          heldUntilMs: each.monitorUntilMs,
          releaseAfterMs: each.monitorUntilMs,
          releasedAtMs: null,
          openUntilMs: invoice.expiresAtMs,
          createdAtMs: START_MS,
          rank: 3 as const,
        };
        const isShared = isOfMany(address) && each.askedUnits !== null;
        const amount = { units: each.askedUnits ?? 0n, priceUnits: each.askedUnits ?? 0n };
        return [
          ...insertInvoice(db, invoice),
          putMethod(db, method),
          insertTimelineItem(db, { ...item, paymentStatus: "AWAITING_PAYMENT" as const, timeMs: START_MS }),
          ...(isShared ? [putAmount(db, { network, cryptocurrency, address, ...amount, ...held })] : []),
        ];
      }),
    ]);
  }

  rows(sql: string, ...params: string[]): Row[] {
    const statement = this.#prepared(sql);
    statement.setReturnArrays(false);
    return statement.all(...params) as Row[];
  }

  /** Changes rows without the service. */
  run(sql: string, ...params: (string | number)[]): void {
    this.#prepared(sql).run(...params);
  }

  /** Runs one tree and rolls back all it wrote. */
  async visit<T>(work: () => Promise<T>): Promise<T> {
    this.#sqlite.exec("SAVEPOINT tree");
    try {
      return await work();
    } finally {
      this.#sqlite.exec("ROLLBACK TO tree; RELEASE tree");
    }
  }

  #methodOf(of: TreeInvoice, invoice: Invoice) {
    const { network, cryptocurrency, askedUnits, address } = of;
    const wallet = this.#wallets.find(
      (each) =>
        each.network === network &&
        each.cryptocurrency === cryptocurrency &&
        each.merchantId === MERCHANTS[of.merchant],
    );
    if (wallet === undefined) throw new Error(`no wallet for ${cryptocurrency} on ${network}`);
    const rate = RATES[cryptocurrency as keyof typeof RATES];
    const method = activeMethod({
      invoice,
      wallet: { ...wallet, requiredConfirmations: of.requiredConfirmations },
      quote: { rate, rateAtMs: START_MS, sources: ["a", "b"], amountUnits: askedUnits },
      destination: { address, addressIndex: isOfMany(address) ? null : 0, amountUnits: askedUnits },
      macKeys: MAC_KEYS,
      nowMs: START_MS,
    });
    // Quotes are locked forever here, because this simulator is about chains. Another simulator covers expired quotes.
    const quotes = parseQuotes(method.quotes).map((quote) => ({ ...quote, lockedUntilMs: Number.MAX_SAFE_INTEGER }));
    return { ...method, lockedUntilMs: Number.MAX_SAFE_INTEGER, quotes: printQuotes(quotes) };
  }
}

function invoiceRow(of: TreeInvoice): Invoice {
  return {
    id: of.id,
    merchantId: MERCHANTS[of.merchant],
    customerId: null,
    productId: null,
    externalId: null,
    name: "Order",
    description: null,
    redirectUrl: null,
    metadata: null,
    amountMicros: of.expectedMicros,
    currency: "USD",
    status: "AWAITING_PAYMENT",
    receivedMicros: 0n,
    confirmedMicros: 0n,
    isLate: false,
    needsReview: false,
    resolution: null,
    warnings: "[]",
    rateLockSeconds: 3_600,
    monitorSeconds: 86_400,
    origin: "API",
    underpaidToleranceMicros: of.underpaidToleranceMicros,
    overpaidToleranceMicros: of.overpaidToleranceMicros,
    latePaymentPolicy: of.latePaymentPolicy,
    expiresAtMs: of.expiresAtMs,
    lateGraceUntilMs: null,
    monitorUntilMs: of.monitorUntilMs,
    eventSequence: 0,
    timelinePosition: 1,
    cancelledAtMs: null,
    closedAtMs: null,
    createdAtMs: START_MS,
    updatedAtMs: START_MS,
  };
}

/** Whether invoices share the address and are told apart by their amounts. */
export function isOfMany(address: string): boolean {
  return address.startsWith("0x");
}

function walletOf(id: WalletId, { merchant, address, ...pair }: (typeof WALLETS)[number]): Wallet {
  const isXpub = address === null;
  const unsigned: Omit<Wallet, "mac" | "macKeyId"> = {
    id,
    merchantId: MERCHANTS[merchant],
    walletType: isXpub ? "XPUB_WALLET" : "DIRECT_WALLET",
    ...pair,
    address,
    xpub: isXpub ? "zpub-of-the-tree" : null,
    derivationPath: isXpub ? "m/84'/0'/0'" : null,
    scheme: isXpub ? "BIP84" : null,
    keyHash: isXpub ? "key" : null,
    requiredConfirmations: 1,
    isEnabled: true,
    lastUsedIndex: isXpub ? 0 : null,
    nextIndex: isXpub ? 1 : null,
    gap: isXpub ? 1 : null,
    frozenAtMs: null,
    createdAtMs: START_MS,
    updatedAtMs: START_MS,
    usableFromMs: 0,
    deletedAtMs: null,
  };
  return { ...unsigned, ...signRow(MAC_KEYS, walletMacSubject(unsigned)) };
}

/** Dependencies of operations on invoices. */
export function shopDependencies(of: {
  readonly shop: ReorgShop;
  readonly db: ReturnType<ReorgShop["db"]>;
  readonly nowMs: number;
  newUlid(): string;
}) {
  const { db, nowMs } = of;
  return {
    db,
    nowMs,
    sleep: instantSleep,
    trail: SYSTEM_TRAIL,
    newOperationId: () => of.newUlid(),
    table: async () => ratesAt(nowMs),
    macKeys: MAC_KEYS,
    isWatched: () => true,
    hasSource: () => true,
    wakeWatcher: () => {},
    allocate: () => Promise.reject(new Error("nobody activates here")),
    allocateAmounts: allocatorsOf((sql, ...params) => of.shop.rows(sql, ...params)),
    body: { macKeys: MAC_KEYS, publicUrl: "https://pay.example", nowMs },
  };
}

/** Pauses end at once. An attempt's time limit, which only a fault would reach, is never triggered. */
export const instantSleep = (ms: number): Promise<void> => (ms >= 3_000 ? new Promise(() => {}) : Promise.resolve());
