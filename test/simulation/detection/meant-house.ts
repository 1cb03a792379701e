// Stores a situation as the service would have, has its transfer read, and tells what was stored of it.
import { networkNamed } from "../../../src/chains/networks.ts";
import type { Transfer } from "../../../src/chains/transfer.ts";
import { putAmount } from "../../../src/commerce/amounts/store.ts";
import { activeMethod } from "../../../src/commerce/invoices/payment-method.ts";
import { insertInvoice, putMethod } from "../../../src/commerce/invoices/store.ts";
import { type MacKeys, signRow } from "../../../src/commerce/wallets/row-mac.ts";
import { type Wallet, walletMacSubject } from "../../../src/commerce/wallets/wallet.ts";
import { applyTransfers } from "../../../src/detection/matching/apply-transfers.ts";
import { type MerchantId, makeId, newUlid } from "../../../src/lib/ids.ts";
import { SYSTEM_TRAIL } from "../../../src/platform/audit/entry.ts";
import { batch, type Statement } from "../../../src/platform/db/batch.ts";
import { merchants } from "../../../src/platform/db/schema/merchants.ts";
import { wallets } from "../../../src/platform/db/schema/wallets.ts";
import { randomFrom } from "../../support/random.ts";
import { saidWhile } from "../engine/said-while.ts";
import { calmLab } from "./calm-lab.ts";
import { COINS, type Coin, DAY, type InvoiceFact, MERCHANTS, PAID_MS, type Situation } from "./meant-facts.ts";
import { instantSleep, type Row, SHARED_ADDRESS } from "./reorg-shop.ts";

const { lab, db, inLab } = calmLab();

export { inLab, lab };

const MAC_KEYS: MacKeys = [{ id: "test", secret: new Uint8Array(32).fill(7) }];
const OLD_MS = PAID_MS - 90 * DAY;
const TX = `0x${"a".repeat(64)}`;
export const merchantOf = (n: number): MerchantId => makeId("mer", String(n).padStart(26, "0"));

const WALLETS = Array.from({ length: MERCHANTS }, (_, n) => COINS.map((coin) => walletOf(n, coin, false))).flat();
const KEY = walletOf(0, "USDT", true);

function walletOf(merchant: number, cryptocurrency: Coin, isXpub: boolean): Wallet {
  const place = 10 * merchant + COINS.indexOf(cryptocurrency) + (isXpub ? 5 : 0);
  const unsigned = {
    ...{ id: makeId("wal", String(place).padStart(26, "0")), merchantId: merchantOf(merchant), cryptocurrency },
    ...{ network: "ETH", walletType: isXpub ? ("XPUB_WALLET" as const) : ("DIRECT_WALLET" as const) },
    ...(isXpub
      ? { address: null, xpub: "xpub", keyHash: "key" }
      : { address: SHARED_ADDRESS, xpub: null, keyHash: null }),
    ...{ derivationPath: null, scheme: null, requiredConfirmations: 1, isEnabled: true, frozenAtMs: null },
    ...{ lastUsedIndex: isXpub ? 0 : null, nextIndex: isXpub ? 1 : null, gap: isXpub ? 0 : null },
    ...{ createdAtMs: OLD_MS, updatedAtMs: OLD_MS, usableFromMs: 0, deletedAtMs: null },
  } as const;
  return { ...unsigned, ...signRow(MAC_KEYS, walletMacSubject(unsigned)) };
}

export async function stock(): Promise<void> {
  for (let n = 0; n < MERCHANTS; n++)
    await db.insert(merchants).values({ id: merchantOf(n), name: "Shop", createdAtMs: OLD_MS, updatedAtMs: OLD_MS });
  for (const wallet of WALLETS) await db.insert(wallets).values(wallet);
}

/** What was stored of the transfer: its rows, the invoices, and what an operator was told. */
export interface Outcome {
  readonly rows: readonly Row[];
  readonly reviewed: readonly string[];
  readonly alerts: readonly string[];
}

export async function outcomeOf(situation: Situation, seed: number): Promise<Outcome> {
  const { invoices, owner } = situation;
  await batch(db, invoices.flatMap(statementsOf) as [Statement, ...Statement[]]);
  if (owner !== undefined) await batch(db, ownerStatements(owner));
  for (const each of invoices) await damage(each);
  if (owner !== undefined) await damage(owner);
  const alerts = await saidWhile("error", async () => {
    const applied = await applyTransfers(dependencies(situation.nowMs, seed), {
      ...{ network: NETWORK, heights: { tipHeight: 20, finalizedHeight: null }, seen: [] },
      transfers: [transferOf(situation)],
    });
    if (!applied.ok) throw new Error(applied.error.code);
  });
  return {
    rows: lab.rows("select merchant_id, invoice_id, status, matched_by, evidence from payments order by merchant_id"),
    reviewed: lab.rows("select id from invoices where needs_review = 1").map(({ id }) => String(id)),
    alerts,
  };
}

const NETWORK = (() => {
  const network = networkNamed("ETH");
  if (network === undefined) throw new Error("no network");
  return network;
})();

function transferOf({ coin, units, paidMs, isMined, isToItself }: Situation): Transfer {
  return {
    ...{ cryptocurrency: coin, txHash: TX, outputIndex: "0", toAddress: SHARED_ADDRESS, amountUnits: units },
    ...{ fromAddress: isToItself ? SHARED_ADDRESS : "0x0", spends: [], raw: "{}" },
    block: isMined ? { height: 20, hash: "b20", timeMs: paidMs } : null,
  };
}

function invoiceRow(of: InvoiceFact) {
  return {
    ...{ id: of.id, merchantId: merchantOf(of.merchant), customerId: null, productId: null, externalId: null },
    ...{ name: "Order", currency: "USD", description: null, redirectUrl: null, metadata: null },
    ...{ amountMicros: of.expectedMicros, status: "AWAITING_PAYMENT", receivedMicros: 0n, confirmedMicros: 0n },
    ...{ isLate: false, needsReview: false, resolution: null, warnings: "[]", rateLockSeconds: 3_600 },
    ...{ monitorSeconds: 86_400, underpaidToleranceMicros: of.toleranceMicros, latePaymentPolicy: "REVIEW" },
    ...{ overpaidToleranceMicros: of.overMicros, expiresAtMs: of.expiresMs, origin: "API" },
    ...{ monitorUntilMs: of.heldUntilMs, cancelledAtMs: of.cancelledMs, closedAtMs: null, eventSequence: 0 },
    ...{ timelinePosition: 1, createdAtMs: of.openedMs, updatedAtMs: of.openedMs },
  } as Parameters<typeof insertInvoice>[1];
}

function methodRow(of: InvoiceFact, wallet: Wallet, units: readonly (readonly [units: bigint, atMs: number])[]) {
  const [[amountUnits, nowMs] = [0n, 0]] = units;
  const method = activeMethod({
    ...{ invoice: invoiceRow(of), wallet, macKeys: MAC_KEYS, nowMs },
    quote: { rate: "1", rateAtMs: nowMs, sources: ["a", "b"], amountUnits },
    destination: { address: SHARED_ADDRESS, addressIndex: wallet.xpub === null ? null : 0, amountUnits },
  });
  const quotes = units.map(([asked, askedFromMs]) => ({
    ...{ amountUnits: String(asked), rate: "1", forMicros: String(of.expectedMicros), askedFromMs },
    lockedUntilMs: of.expiresMs,
  }));
  return { ...method, quotes: JSON.stringify(quotes) as typeof method.quotes };
}

function statementsOf(of: InvoiceFact): readonly Statement[] {
  const methods = COINS.flatMap((coin) => {
    const own = of.amounts.filter((each) => each.coin === coin);
    const wallet = WALLETS.find((each) => each.merchantId === merchantOf(of.merchant) && each.cryptocurrency === coin);
    if (own.length === 0 || wallet === undefined) return [];
    return [
      putMethod(
        db,
        methodRow(
          of,
          wallet,
          own.map(({ units, sinceMs }) => [units, sinceMs]),
        ),
      ),
    ];
  });
  const amounts = of.amounts.map(({ coin, units, sinceMs, isReleased }) =>
    putAmount(db, {
      ...{ network: "ETH", cryptocurrency: coin, address: SHARED_ADDRESS, units, priceUnits: units },
      ...{ invoiceId: of.id, merchantId: merchantOf(of.merchant), rank: of.rank, createdAtMs: sinceMs },
      ...{ openUntilMs: of.expiresMs, heldUntilMs: of.heldUntilMs, releaseAfterMs: of.heldUntilMs },
      releasedAtMs: isReleased ? of.heldUntilMs + 1 : null,
    }),
  );
  return [...insertInvoice(db, invoiceRow(of)), ...methods, ...amounts];
}

function ownerStatements(of: InvoiceFact): [Statement, ...Statement[]] {
  const method = methodRow(of, KEY, [[100_000_000n, of.openedMs]]);
  return [putMethod(db, method), ...insertInvoice(db, invoiceRow(of))];
}

async function damage({ id, damage: kind }: InvoiceFact): Promise<void> {
  const set = {
    none: undefined,
    row: "amount_units = 'x'",
    quotes: 'quotes = replace(quotes, \'"forMicros":"\', \'"forMicros":"x\')',
    forged: "mac = 'forged'",
  }[kind];
  if (set !== undefined) lab.rows(`update payment_methods set ${set} where invoice_id = ?`, id);
}

function dependencies(nowMs: number, seed: number) {
  const random = randomFrom(seed);
  const price = { usd: "1", atMs: nowMs, sources: ["a", "b"] };
  return {
    ...{ db, nowMs, sleep: instantSleep, trail: SYSTEM_TRAIL, macKeys: MAC_KEYS },
    newOperationId: () =>
      newUlid(
        nowMs,
        Uint8Array.from({ length: 16 }, () => random() * 256),
      ),
    table: async () => ({ assets: { USDT: price, USDC: price }, fiat: {} }),
    ...{ isWatched: () => true, hasSource: () => true, wakeWatcher: () => {} },
    allocateAmounts: () => Promise.resolve([{ kind: "refused", refusal: { code: "AMOUNTS_EXHAUSTED" } } as const]),
    body: { macKeys: MAC_KEYS, publicUrl: "https://pay.example", nowMs },
  };
}
