// Stores a situation as the service would, has its transfer read, and returns the stored result.
import { networkNamed } from "../../../src/chains/registry/networks.ts";
import type { Transfer } from "../../../src/chains/sources/transfer.ts";
import { putAmount } from "../../../src/commerce/amounts/store.ts";
import { insertInvoice, putMethod } from "../../../src/commerce/invoice-records/store.ts";
import { activeMethod } from "../../../src/commerce/payment-methods/payment-method.ts";
import { type MacKeys, signRow } from "../../../src/commerce/wallet-records/row-mac.ts";
import { type Wallet, walletMacSubject } from "../../../src/commerce/wallet-records/wallet.ts";
import { applyTransfers, type Findings } from "../../../src/detection/matching/apply-transfers.ts";
import { type MerchantId, makeId, newUlid } from "../../../src/lib/ids.ts";
import { SYSTEM_TRAIL } from "../../../src/platform/audit/entry.ts";
import { batch } from "../../../src/platform/db/batch.ts";
import { merchants } from "../../../src/platform/db/schema/merchants.ts";
import { wallets } from "../../../src/platform/db/schema/wallets.ts";
import type { Statement } from "../../../src/platform/db/statement.ts";
import { randomFrom } from "../../support/random.ts";
import { saidWhile } from "../engine/said-while.ts";
import { COINS, type Coin, DAY, type InvoiceFact, MERCHANTS, PAID_MS, type Situation } from "./meant-facts.ts";
import { quietLab } from "./quiet-lab.ts";
import { instantSleep, type Row, SHARED_ADDRESS } from "./reorg-shop.ts";

const { lab, db, inLab } = quietLab();

export { db as calm, inLab, lab };

const MAC_KEYS: MacKeys = [{ id: "test", secret: new Uint8Array(32).fill(7) }];
const OLD_MS = PAID_MS - 90 * DAY;
const TX = `0x${"a".repeat(64)}`;
export const merchantOf = (n: number): MerchantId => makeId("mer", String(n).padStart(26, "0"));

const WALLETS = Array.from({ length: MERCHANTS }, (_, n) => COINS.map((coin) => walletOf(n, coin, false))).flat();
const KEY = walletOf(0, "USDT", true);

function walletOf(merchant: number, cryptocurrency: Coin, isXpub: boolean): Wallet {
  const place = 10 * merchant + COINS.indexOf(cryptocurrency) + (isXpub ? 5 : 0);
  const unsigned = {
    id: makeId("wal", String(place).padStart(26, "0")),
    merchantId: merchantOf(merchant),
    cryptocurrency,
    network: "ETH",
    walletType: isXpub ? ("XPUB_WALLET" as const) : ("DIRECT_WALLET" as const),
    ...(isXpub
      ? { address: null, xpub: "xpub", keyHash: "key" }
      : { address: SHARED_ADDRESS, xpub: null, keyHash: null }),
    derivationPath: null,
    scheme: null,
    requiredConfirmations: 1,
    isEnabled: true,
    frozenAtMs: null,
    lastUsedIndex: isXpub ? 0 : null,
    nextIndex: isXpub ? 1 : null,
    gap: isXpub ? 0 : null,
    createdAtMs: OLD_MS,
    updatedAtMs: OLD_MS,
    usableFromMs: 0,
    deletedAtMs: null,
  } as const;
  return { ...unsigned, ...signRow(MAC_KEYS, walletMacSubject(unsigned)) };
}

export async function stock(): Promise<void> {
  for (let n = 0; n < MERCHANTS; n++)
    await db.insert(merchants).values({ id: merchantOf(n), name: "Shop", createdAtMs: OLD_MS, updatedAtMs: OLD_MS });
  for (const wallet of WALLETS) await db.insert(wallets).values(wallet);
}

/** What was stored for the transfer: its rows, the invoices, and the notices to operators. */
interface Outcome {
  readonly rows: readonly Row[];
  readonly reviewed: readonly string[];
  readonly alerts: readonly string[];
  /** For each invoice that was just paid, the seconds since the block of its last payment. */
  readonly paidAfterSeconds: readonly number[];
  readonly paid: number;
}

/** Stores the situation and has the transfer read. */
export async function outcomeOf(situation: Situation, seed: number): Promise<Outcome> {
  const { invoices, owner, quorumMicros } = situation;
  if (quorumMicros !== null) lab.rows("update merchants set quorum_above_micros = ?", String(quorumMicros));
  if (situation.isCrowded) addCrowd();
  await batch(db, invoices.flatMap(statementsOf) as [Statement, ...Statement[]]);
  if (owner !== undefined) await batch(db, ownerStatements(owner));
  for (const each of invoices) await damage(each);
  if (owner !== undefined) await damage(owner);
  return read(situation, seed, { transfers: [transferOf(situation)] });
}

/** Applies these findings, and returns the resulting state. */
export async function read(
  { nowMs, hasSecond }: Situation,
  seed: number,
  found: Partial<Pick<Findings, "transfers" | "seen" | "isHearsay">>,
): Promise<Outcome> {
  const paidAfterSeconds: number[] = [];
  const notePaid = ({ seconds }: { readonly seconds: number }) => void paidAfterSeconds.push(seconds);
  const alerts = await saidWhile("error", async () => {
    const applied = await applyTransfers(
      { ...dependencies(nowMs, seed), notePaid },
      {
        network: NETWORK,
        heights: { tipHeight: 21, finalizedHeight: null },
        hasSecond,
        transfers: [],
        seen: [],
        ...found,
      },
    );
    if (!applied.ok) throw new Error(applied.error.code);
  });
  return {
    rows: lab.rows("select merchant_id, invoice_id, status, matched_by, evidence from payments order by merchant_id"),
    reviewed: lab.rows("select id from invoices where needs_review = 1").map(({ id }) => String(id)),
    alerts,
    paidAfterSeconds,
    paid: lab.rows("select 1 from invoices where status = 'PAID'").length,
  };
}

const NETWORK = (() => {
  const network = networkNamed("ETH");
  if (network === undefined) throw new Error("no network");
  return network;
})();

export function transferOf({ coin, units, paidMs, isMined, isToItself }: Situation): Transfer {
  return {
    cryptocurrency: coin,
    txHash: TX,
    outputIndex: "0",
    toAddress: SHARED_ADDRESS,
    amountUnits: units,
    fromAddress: isToItself ? SHARED_ADDRESS : "0x0",
    spends: [],
    raw: "{}",
    block: isMined ? { height: 20, hash: "b20", timeMs: paidMs } : null,
  };
}

function invoiceRow(of: InvoiceFact) {
  return {
    id: of.id,
    merchantId: merchantOf(of.merchant),
    customerId: null,
    productId: null,
    externalId: null,
    name: "Order",
    currency: "USD",
    description: null,
    redirectUrl: null,
    metadata: null,
    amountMicros: of.expectedMicros,
    status: "AWAITING_PAYMENT",
    receivedMicros: 0n,
    confirmedMicros: 0n,
    isLate: false,
    needsReview: false,
    resolution: null,
    warnings: "[]",
    rateLockSeconds: 3_600,
    monitorSeconds: 86_400,
    underpaidToleranceMicros: of.toleranceMicros,
    latePaymentPolicy: "REVIEW",
    overpaidToleranceMicros: of.overMicros,
    expiresAtMs: of.expiresMs,
    lateGraceUntilMs: null,
    origin: "API",
    monitorUntilMs: of.heldUntilMs,
    cancelledAtMs: of.cancelledMs,
    closedAtMs: null,
    eventSequence: 0,
    timelinePosition: 1,
    createdAtMs: of.openedMs,
    updatedAtMs: of.openedMs,
  } as Parameters<typeof insertInvoice>[1];
}

function methodRow(of: InvoiceFact, wallet: Wallet, units: readonly (readonly [units: bigint, atMs: number])[]) {
  const [[amountUnits, nowMs] = [0n, 0]] = units;
  const method = activeMethod({
    invoice: invoiceRow(of),
    wallet,
    macKeys: MAC_KEYS,
    nowMs,
    quote: { rate: "1", rateAtMs: nowMs, sources: ["a", "b"], amountUnits },
    destination: { address: SHARED_ADDRESS, addressIndex: wallet.xpub === null ? null : 0, amountUnits },
  });
  const quotes = units.map(([asked, askedFromMs]) => ({
    amountUnits: String(asked),
    rate: "1",
    forMicros: String(of.expectedMicros),
    askedFromMs,
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
      network: "ETH",
      cryptocurrency: coin,
      address: SHARED_ADDRESS,
      units,
      priceUnits: units,
      invoiceId: of.id,
      merchantId: merchantOf(of.merchant),
      rank: of.rank,
      createdAtMs: sinceMs,
      openUntilMs: of.expiresMs,
      heldUntilMs: of.heldUntilMs,
      releaseAfterMs: of.heldUntilMs,
      releasedAtMs: isReleased ? of.heldUntilMs + 1 : null,
    }),
  );
  return [...insertInvoice(db, invoiceRow(of)), ...methods, ...amounts];
}

function ownerStatements(of: InvoiceFact): [Statement, ...Statement[]] {
  const method = methodRow(of, KEY, [[100_000_000n, of.openedMs]]);
  return [putMethod(db, method), ...insertInvoice(db, invoiceRow(of))];
}

const CROWD = 110;
/** The first 3 wallets of the crowd registered last but have received payments at the address; the next 4 only elsewhere. */
const KNOWN_THERE = 3;
const KNOWN_ELSEWHERE = 7;
/** The number of wallets at an address that are notified. */
const LISTED = 100;
const memberOf = (n: number): MerchantId => makeId("mer", String(1_000 + n).padStart(26, "0"));

function addCrowd(): void {
  const columns = Object.keys(lab.rows("select * from wallets limit 1")[0] ?? {}).map((name) => {
    if (name === "id") return "'wal_' || printf('%026d', 1000 + item.value)";
    if (name === "merchant_id") return "'mer_' || printf('%026d', 1000 + item.value)";
    return name === "created_at_ms" ? `created_at_ms + ${CROWD} - item.value` : `wallets.${name}`;
  });
  const all = JSON.stringify(Array.from({ length: CROWD }, (_, n) => n));
  lab.rows(
    `insert into wallets select ${columns} from wallets, json_each(?) item where wallets.id = ?`,
    all,
    WALLETS[0]?.id ?? "",
  );
  const prove = (network: string, target: string, n: number) =>
    lab.rows("insert into address_proofs values (?, ?, ?, ?)", network, target, memberOf(n), 1_000_000 * (CROWD - n));
  for (let n = 0; n < KNOWN_THERE; n++) prove("ETH", SHARED_ADDRESS, n);
  for (let n = KNOWN_THERE; n < KNOWN_ELSEWHERE; n++) {
    prove("ETH", "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359", n);
    prove("BTC", SHARED_ADDRESS, n);
  }
}

/** Which of the crowd are notified: those that have received payments at the address, then the earliest. */
export function toldOfCrowd(): readonly MerchantId[] {
  const first = LISTED - MERCHANTS - KNOWN_THERE;
  return Array.from({ length: CROWD }, (_, n) => n)
    .filter((n) => n < KNOWN_THERE || n >= CROWD - first)
    .map(memberOf);
}

export async function damage({ id, damage: kind }: Pick<InvoiceFact, "id" | "damage">): Promise<void> {
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
    db,
    nowMs,
    sleep: instantSleep,
    trail: SYSTEM_TRAIL,
    macKeys: MAC_KEYS,
    newOperationId: () =>
      newUlid(
        nowMs,
        Uint8Array.from({ length: 16 }, () => random() * 256),
      ),
    table: async () => ({ assets: { USDT: price, USDC: price }, fiat: {} }),
    isWatched: () => true,
    hasSource: () => true,
    wakeWatcher: () => {},
    allocateAmounts: () => Promise.resolve([{ kind: "refused", refusal: { code: "AMOUNTS_EXHAUSTED" } } as const]),
    body: { macKeys: MAC_KEYS, publicUrl: "https://pay.example", nowMs },
  };
}
