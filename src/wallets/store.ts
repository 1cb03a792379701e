import { and, asc, desc, eq, gt, isNotNull, isNull, sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { columnsDecoder, jsonMembers } from "../db/json-rows.ts";
import { auditEvents } from "../db/schema/audit-events.ts";
import { events } from "../db/schema/events.ts";
import { paymentMethods } from "../db/schema/invoices.ts";
import { assertions } from "../db/schema/operations.ts";
import { wallets } from "../db/schema/wallets.ts";
import { template } from "../db/template.ts";
import { fanOut } from "../events/store.ts";
import type { AuditId, EventId, MerchantId, WalletId } from "../lib/ids.ts";
import { GAP_WARNING_AT, type Wallet } from "./wallet.ts";
import { walletFacts } from "./wallet-facts.ts";

/** How many taken salts of a price are read at once. */
const SALTS_READ = 64;

type WalletRow = typeof wallets.$inferSelect;

const live = and(eq(wallets.merchantId, sql.placeholder("merchantId")), isNull(wallets.deletedAtMs));
const liveWallets = template((db) =>
  db.select().from(wallets).where(live).orderBy(asc(wallets.createdAtMs), asc(wallets.id)),
);
const liveWallet = template((db) =>
  db
    .select()
    .from(wallets)
    .where(and(eq(wallets.id, sql.placeholder("walletId")), live))
    .limit(1),
);

/** A live wallet with what an activation must know of it. */
export type PayableRow = WalletRow & {
  /** An older live wallet of another merchant has the same key. */
  readonly isKeyShared: boolean;
  /** If so: how many of the merchant's addresses of this key received money. */
  readonly paidAddresses: number;
  /** The first taken salts of the price asked about, ascending; none where no price was. */
  readonly takenSalts: readonly number[];
  readonly maxSalt: number | null;
  /** Whether the price asked about is taken as an amount, by an invoice of whichever price. */
  readonly isPriceTaken: boolean;
  /** How many amounts this merchant holds at the address, where another merchant has a live wallet on it; else null. */
  readonly ownHeld: number | null;
};

const isKeyShared = sql`(wallet.key_hash is not null and exists (
  select 1 from wallets elder where elder.key_hash = wallet.key_hash and elder.deleted_at_ms is null
  and elder.merchant_id <> wallet.merchant_id and (elder.created_at_ms, elder.id) < (wallet.created_at_ms, wallet.id)))`;
const price = sql`json_extract(${sql.placeholder("prices")}, '$.' || wallet.cryptocurrency || '_' || wallet.network)`;
const atPrice = sql`from amount_reservations taken where taken.network = wallet.network
  and taken.cryptocurrency = wallet.cryptocurrency and taken.address = wallet.address and taken.price_units = ${price}`;
const salts = sql`(select json_group_array(salt) from (select salt ${atPrice} order by salt limit ${sql.raw(String(SALTS_READ))}))`;
const isPriceTaken = sql`exists (select 1 from amount_reservations taken where taken.network = wallet.network
  and taken.cryptocurrency = wallet.cryptocurrency and taken.address = wallet.address and taken.units = ${price})`;
const ownHeld = sql`(case when wallet.address is not null and exists (select 1 from wallets other where other.network = wallet.network
    and other.address = wallet.address and other.deleted_at_ms is null and other.merchant_id <> wallet.merchant_id)
  then (select count(*) from amount_reservations held where held.network = wallet.network
    and held.cryptocurrency = wallet.cryptocurrency and held.address = wallet.address and held.merchant_id = wallet.merchant_id) end)`;

/**
 * A column `payable` with the merchant's live wallets, oldest first, as JSON: what a create and a pick read. `isPriced`: for a direct wallet
 * whose price is known, which amounts of that price are taken. Placeholders: `merchantId`, and `prices` where priced.
 */
export function payableWallets(isPriced: boolean) {
  const taken = isPriced ? salts : sql`json_array()`;
  const last = isPriced ? sql`(select max(salt) ${atPrice})` : sql`null`;
  const isTaken = isPriced ? isPriceTaken : sql`0`;
  return sql`(select json_group_array(json_object(${jsonMembers(wallets, "wallet")}, 'isKeyShared', ${isKeyShared},
      'paidAddresses', case when ${isKeyShared} then (select count(*) from wallets own
        join payment_methods method on method.wallet_id = own.id and method.address_index is not null
        where own.merchant_id = wallet.merchant_id and own.key_hash = wallet.key_hash and exists (
          select 1 from payments paid where paid.invoice_id = method.invoice_id and paid.network = method.network
          and paid.to_address = method.address and paid.status in ('DETECTED', 'CONFIRMED'))) else 0 end,
      'takenSalts', json(${taken}), 'maxSalt', ${last}, 'isPriceTaken', ${isTaken}, 'ownHeld', ${ownHeld}))
    from (select * from wallets where merchant_id = ${sql.placeholder("merchantId")} and deleted_at_ms is null
      order by created_at_ms, id) wallet)`
    .mapWith(payableIn)
    .as("payable");
}

const decodeColumns = columnsDecoder(wallets);

function payableIn(text: string): readonly PayableRow[] {
  type Flags = { readonly isKeyShared: number; readonly isPriceTaken: number };
  const rows: readonly (Omit<PayableRow, keyof Flags> & Flags)[] = JSON.parse(text);
  return rows.map((row) => ({
    ...decodeColumns(row),
    isKeyShared: row.isKeyShared === 1,
    isPriceTaken: row.isPriceTaken === 1,
  }));
}

const pricedWallets = template((db) => db.select({ payable: payableWallets(true) }).from(sql`(select 1)`));

/** All live wallets of a merchant, oldest first. `merchantId` may be a path's, unproved. */
export function selectLiveWallets(db: Db, merchantId: string) {
  return liveWallets(db, { merchantId });
}

/** One live wallet by id. */
export function selectLiveWallet(db: Db, merchantId: string, walletId: string) {
  return liveWallet(db, { merchantId, walletId });
}

/**
 * The payable wallets, in one row. `prices` is JSON of `<cryptocurrency>_<network>` to the plain amount in base units at which a direct method
 * would ask.
 */
export function selectPayableWallets(db: Db, merchantId: string, prices: string) {
  return pricedWallets(db, { merchantId, prices });
}

/** The id of the live wallet of a pair, in canonical spelling. */
export function selectWalletOfPair(
  db: Db,
  merchantId: string,
  pair: { readonly cryptocurrency: string; readonly network: string },
) {
  return db
    .select({ id: wallets.id })
    .from(wallets)
    .where(
      and(
        sql`${wallets.merchantId} = ${merchantId}`,
        eq(wallets.cryptocurrency, pair.cryptocurrency),
        eq(wallets.network, pair.network),
        isNull(wallets.deletedAtMs),
      ),
    )
    .limit(1);
}

/** The wallet that a pair had last, gone by now: what a new one replaces. */
export function selectReplacedWallet(
  db: Db,
  merchantId: string,
  pair: { readonly cryptocurrency: string; readonly network: string },
) {
  return db
    .select()
    .from(wallets)
    .where(
      and(
        sql`${wallets.merchantId} = ${merchantId}`,
        eq(wallets.cryptocurrency, pair.cryptocurrency),
        eq(wallets.network, pair.network),
        isNotNull(wallets.deletedAtMs),
      ),
    )
    .orderBy(desc(wallets.deletedAtMs), desc(wallets.id))
    .limit(1);
}

export function insertWallet(db: Db, wallet: Wallet) {
  return db.insert(wallets).values(wallet);
}

export function updateLiveWallet(
  db: Db,
  of: { merchantId: MerchantId; walletId: WalletId },
  changes: Partial<Pick<Wallet, "isEnabled" | "requiredConfirmations" | "usableFromMs" | "deletedAtMs">> & {
    updatedAtMs: number;
  },
) {
  return db
    .update(wallets)
    .set(changes)
    .where(and(eq(wallets.id, of.walletId), eq(wallets.merchantId, of.merchantId), isNull(wallets.deletedAtMs)));
}

/**
 * The HMAC was found wrong: nothing of the wallet is shown or used any more (security.md 4). Kept once set, and told once: the audit entry,
 * by nobody, comes of the row while it is not frozen, so it goes first.
 */
export function freezeWallet(db: Db, wallet: Wallet, of: { readonly auditId: AuditId; readonly nowMs: number }) {
  const unfrozen = and(
    eq(wallets.id, wallet.id),
    eq(wallets.merchantId, wallet.merchantId),
    isNull(wallets.frozenAtMs),
  );
  const found = JSON.stringify({ ...walletFacts(wallet), isFrozen: true });
  return [
    db.insert(auditEvents).select(
      sql`select ${of.auditId}, merchant_id, 'SYSTEM', null, 'wallet.frozen', id, null, ${found}, null, null, ${of.nowMs}
        from wallets where ${unfrozen}`,
    ),
    db.update(wallets).set({ frozenAtMs: of.nowMs }).where(unfrozen),
  ] as const;
}

/** Aborts the batch unless the wallet is live, with the settings that were read: the lock of a PATCH against another. */
export function assertSettings(db: Db, read: Pick<Wallet, "id" | "isEnabled" | "requiredConfirmations">) {
  return db.insert(assertions).select(
    sql`select 'wallet is as read', 0 where not exists (
      select 1 from wallets where id = ${read.id} and deleted_at_ms is null and is_enabled = ${read.isEnabled ? 1 : 0}
      and required_confirmations = ${read.requiredConfirmations})`,
  );
}

/** Aborts the batch when the wallet was deleted before. */
export function assertWalletLive(db: Db, walletId: WalletId) {
  return db
    .insert(assertions)
    .select(
      sql`select 'wallet is live', 0 where not exists (select 1 from wallets where id = ${walletId} and deleted_at_ms is null)`,
    );
}

const noteIndex = template((db) =>
  db
    .update(wallets)
    .set({
      lastUsedIndex: sql`max(${wallets.lastUsedIndex}, ${sql.placeholder("index")})`,
      nextIndex: sql`max(${wallets.nextIndex}, ${sql.placeholder("index")} + 1)`,
      gap: sql`${wallets.gap} + 1`,
      updatedAtMs: sql`${sql.placeholder("nowMs")}`,
    })
    .where(eq(wallets.id, sql.placeholder("walletId"))),
);
const gapWarning = template((db) =>
  db.insert(events).select(
    sql`select ${sql.placeholder("eventId")}, ${sql.placeholder("merchantId")}, 'wallet.gap_limit_warning', null, null,
      json_object('walletId', id, 'cryptocurrency', cryptocurrency, 'network', network, 'gap', gap, 'nextIndex', next_index),
      ${sql.placeholder("nowMs")} from wallets where id = ${sql.placeholder("walletId")} and gap = ${sql.raw(String(GAP_WARNING_AT))}`,
  ),
);
const usable = template((db) =>
  db.insert(assertions).select(
    sql`select 'wallet is usable', 0 where not exists (select 1 from wallets
      where id = ${sql.placeholder("walletId")} and deleted_at_ms is null and is_enabled = 1 and frozen_at_ms is null
      and usable_from_ms <= ${sql.placeholder("nowMs")})`,
  ),
);

/** The mirror of an allocation: it only moves forward, whatever order answers arrive in (reliability.md 2). */
export function noteAllocation(db: Db, walletId: WalletId, allocated: { index: number; nowMs: number }) {
  return noteIndex(db, { walletId, ...allocated });
}

/** The gap warning, recorded by the very allocation that reaches the mark: the condition is read inside the batch. */
export function warnOfGap(
  db: Db,
  warning: { eventId: EventId; merchantId: MerchantId; walletId: WalletId; nowMs: number },
) {
  return [gapWarning(db, warning), fanOut(db, [warning.eventId])] as const;
}

/** Aborts the batch unless the wallet is live, enabled and past its delay at that moment. */
export function assertWalletUsable(db: Db, walletId: WalletId, nowMs: number) {
  return usable(db, { walletId, nowMs });
}

/**
 * Aborts the batch while the wallet is tied (Interface 4.3, decisions 3): an active invoice of this merchant has an ACTIVE method that
 * pays to the wallet's address, on whatever network (direct), or is of the wallet's pair (xpub).
 */
export function assertWalletNotTied(db: Db, wallet: Wallet) {
  return db.insert(assertions).select(sql`select 'wallet is not tied', 0 where exists (${activeTie(wallet)})`);
}

/** The tie itself, for the check before the batch. */
export function selectActiveTie(db: Db, wallet: Wallet) {
  return db
    .select({ isTied: sql<number>`exists (${activeTie(wallet)})` })
    .from(wallets)
    .where(eq(wallets.id, wallet.id));
}

/** Reads the merchant's own active invoices, so that strangers who use the same address cost nothing. */
function activeTie(wallet: Wallet) {
  const destination =
    wallet.walletType === "DIRECT_WALLET"
      ? sql`method.address = ${wallet.address}`
      : sql`method.network = ${wallet.network} and method.cryptocurrency = ${wallet.cryptocurrency}`;
  return sql`select 1 from invoices active join payment_methods method on method.invoice_id = active.id
    where active.merchant_id = ${wallet.merchantId} and active.status in ('AWAITING_PAYMENT', 'PENDING_CONFIRMATION')
    and method.status = 'ACTIVE' and ${destination}`;
}

/** All wallets a merchant ever had on a key, oldest first: a later one continues where an earlier one stopped. */
export function selectWalletsOfKey(db: Db, merchantId: MerchantId, keyHash: string) {
  return db
    .select({ id: wallets.id })
    .from(wallets)
    .where(and(eq(wallets.merchantId, merchantId), eq(wallets.keyHash, keyHash)))
    .orderBy(asc(wallets.createdAtMs), asc(wallets.id));
}

/** Addresses handed out for a wallet, by index, from the one after `afterIndex` on: the same cost on every page. */
export function selectHandedOut(
  db: Db,
  of: {
    readonly merchantId: MerchantId;
    readonly walletId: WalletId;
    readonly afterIndex: number;
    readonly limit: number;
  },
) {
  return db
    .select({
      invoiceId: paymentMethods.invoiceId,
      merchantId: paymentMethods.merchantId,
      cryptocurrency: paymentMethods.cryptocurrency,
      network: paymentMethods.network,
      index: sql<number>`payment_methods.address_index`.as("handed_out_index"),
      address: paymentMethods.address,
      mac: paymentMethods.mac,
      macKeyId: paymentMethods.macKeyId,
      activatedAtMs: paymentMethods.activatedAtMs,
    })
    .from(paymentMethods)
    .where(
      and(
        eq(paymentMethods.walletId, of.walletId),
        eq(paymentMethods.merchantId, of.merchantId),
        gt(paymentMethods.addressIndex, of.afterIndex),
      ),
    )
    .orderBy(asc(paymentMethods.addressIndex))
    .limit(of.limit);
}

/**
 * The longest run of indexes below `nextIndex` whose address holds no confirmed payment, which is what wallet software must look past.
 * Indexes that went to another holder of the key count as empty: rather too long a run than an address out of sight.
 */
export function selectLongestRun(
  db: Db,
  of: { readonly walletId: WalletId; readonly walletIds: readonly WalletId[]; readonly nextIndex: number },
) {
  const longest = sql<number>`(with paid as (
      select distinct method.address_index as i from payment_methods method
      join payments payment on payment.invoice_id = method.invoice_id and payment.network = method.network
      and payment.to_address = method.address and payment.status = 'CONFIRMED'
      where method.wallet_id in (select value from json_each(${JSON.stringify(of.walletIds)})) and method.address_index < ${of.nextIndex})
    select max(run) from (
      select i - lag(i, 1, -1) over (order by i) - 1 as run from paid
      union all select ${of.nextIndex} - 1 - coalesce((select max(i) from paid), -1)))`;
  return db
    .select({ longestRun: longest.as("longest_run") })
    .from(wallets)
    .where(eq(wallets.id, of.walletId));
}
