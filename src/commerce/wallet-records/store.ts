import { and, asc, desc, eq, gt, isNotNull, isNull, sql } from "drizzle-orm";
import type { AuditId, EventId, InvoiceId, MerchantId, WalletId } from "../../lib/ids.ts";
import type { Db } from "../../platform/db/client.ts";
import { prepared, preparedForEach } from "../../platform/db/prepared-statement.ts";
import { revokedColumns } from "../../platform/db/revoked-columns.ts";
import { auditEvents } from "../../platform/db/schema/audit-events.ts";
import { events } from "../../platform/db/schema/events.ts";
import { paymentMethods } from "../../platform/db/schema/invoices.ts";
import { assertions } from "../../platform/db/schema/operations.ts";
import { wallets } from "../../platform/db/schema/wallets.ts";
import { withRevocations } from "../../platform/db/statement.ts";
import { fanOut } from "../../platform/events/store.ts";
import { GAP_WARNING_AT, type Wallet } from "./wallet.ts";
import { walletFacts } from "./wallet-facts.ts";

const live = and(eq(wallets.merchantId, sql.placeholder("merchantId")), isNull(wallets.deletedAtMs));

/** All live wallets of a merchant, oldest first. `merchantId` may come unchecked from a path. */
export const selectLiveWallets = prepared(
  (merchantId: string) => ({ merchantId }),
  (db) => db.select().from(wallets).where(live).orderBy(asc(wallets.createdAtMs), asc(wallets.id)),
);

export const selectLiveWallet = prepared(
  (merchantId: string, walletId: string) => ({ merchantId, walletId }),
  (db, of) =>
    db
      .select()
      .from(wallets)
      .where(and(eq(wallets.id, of.walletId), live))
      .limit(1),
);

/** Wallets of any merchant, including deleted ones. */
export function selectWalletsById(db: Db, ids: readonly string[]) {
  return db
    .select()
    .from(wallets)
    .where(sql`${wallets.id} in (select value from json_each(${JSON.stringify(ids)}))`);
}

/** The id of the live wallet for a pair, which is in canonical spelling. */
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

/** The wallet of the pair that was deleted last, which a new wallet replaces. */
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
  const { walletId: target, merchantId: owner } = of;
  const update = db
    .update(wallets)
    .set(changes)
    .where(and(eq(wallets.id, target), eq(wallets.merchantId, owner), isNull(wallets.deletedAtMs)));
  return withRevocations(update, [{ kind: "WALLET", owner, target, columns: revokedColumns(wallets, changes) }]);
}

/**
 * Freezes a wallet whose HMAC is wrong: it is no longer shown or used, and stays frozen. The audit entry is inserted only while the row is not
 * frozen, so that there is exactly one entry; its statement must therefore come first.
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

/** Aborts the batch unless the wallet is live and its settings are unchanged since they were read. This is the lock between concurrent PATCHes. */
export function assertSettings(db: Db, read: Pick<Wallet, "id" | "isEnabled" | "requiredConfirmations">) {
  return db.insert(assertions).select(
    sql`select 'wallet is as read', 0 where not exists (
      select 1 from wallets where id = ${read.id} and deleted_at_ms is null and is_enabled = ${read.isEnabled ? 1 : 0}
      and required_confirmations = ${read.requiredConfirmations})`,
  );
}

export function assertWalletLive(db: Db, walletId: WalletId) {
  return db
    .insert(assertions)
    .select(
      sql`select 'wallet is live', 0 where not exists (select 1 from wallets where id = ${walletId} and deleted_at_ms is null)`,
    );
}

interface GapWarning {
  readonly eventId: EventId;
  readonly merchantId: MerchantId;
  readonly walletId: WalletId;
  readonly nowMs: number;
}

// Only the allocation that reaches the limit warns, so the allocations in a batch are counted by wallet.
const gapWarning = preparedForEach(
  ({ eventId, merchantId, walletId, nowMs }: GapWarning) => ({ eventId, merchantId, walletId, nowMs }),
  (db, of) =>
    db.insert(events).select(
      sql`select warning.event_id, warning.merchant_id, 'wallet.gap_limit_warning', null, null,
      json_object('walletId', id, 'cryptocurrency', cryptocurrency, 'network', network, 'gap', gap, 'nextIndex', next_index), warning.now_ms, null, null
      from (select value ->> '$.walletId' as wallet_id, min(value ->> '$.eventId') as event_id, value ->> '$.merchantId' as merchant_id,
        max(value ->> '$.nowMs') as now_ms, count(*) as allocated from json_each(${of.items}) group by 1) warning
      cross join wallets on id = warning.wallet_id
      where gap >= ${sql.raw(String(GAP_WARNING_AT))} and gap - warning.allocated < ${sql.raw(String(GAP_WARNING_AT))}`,
    ),
);

/** Copies an allocation's index to the wallet's row. The stored index only increases, whatever the order of the allocations. */
export const noteAllocation = preparedForEach(
  (walletId: WalletId, { index, nowMs }: { readonly index: number; readonly nowMs: number }) => ({
    walletId,
    index,
    nowMs,
  }),
  (db, of) => {
    const own = (what: string) =>
      sql`(select ${sql.raw(what)} from json_each(${of.items}) where value ->> '$.walletId' = ${wallets.id})`;
    return db
      .update(wallets)
      .set({
        lastUsedIndex: sql`max(${wallets.lastUsedIndex}, ${own("max(value ->> '$.index')")})`,
        nextIndex: sql`max(${wallets.nextIndex}, ${own("max(value ->> '$.index')")} + 1)`,
        gap: sql`${wallets.gap} + ${own("count(*)")}`,
        updatedAtMs: own("max(value ->> '$.nowMs')"),
      })
      .where(sql`${wallets.id} in (select value ->> '$.walletId' from json_each(${of.items}))`);
  },
);

/** Records the gap warning in the batch of the allocation that reaches the limit. Whether it is reached is decided inside the batch. */
export function warnOfGap(db: Db, warning: GapWarning) {
  return [gapWarning(db, warning), fanOut(db, [warning.eventId])] as const;
}

/** Aborts the batch unless the wallet is live, enabled, not frozen, and past its delay at `nowMs`. */
export const assertWalletUsable = preparedForEach(
  (walletId: WalletId, nowMs: number) => ({ walletId, nowMs }),
  (db, of) =>
    db.insert(assertions).select(
      sql`select 'wallet is usable', 0 from json_each(${of.items}) used where not exists (select 1 from wallets
      where id = used.value ->> '$.walletId' and deleted_at_ms is null and is_enabled = 1 and frozen_at_ms is null
      and usable_from_ms <= used.value ->> '$.nowMs')`,
    ),
);

/**
 * Aborts the batch while the wallet is tied (Interface 4.3, decisions 3): an active invoice of this merchant has an ACTIVE method that pays to the
 * wallet's address, on any network (direct), or is for the wallet's pair (xpub).
 */
export function assertWalletNotTied(db: Db, wallet: Wallet) {
  return db.insert(assertions).select(sql`select 'wallet is not tied', 0 where exists (select 1 from ${tied(wallet)})`);
}

/** At most `limit` invoices that the wallet is tied to, each listed once per method; for the check before the batch. */
export function selectTiedInvoices(db: Db, wallet: Wallet, limit: number) {
  return db.select({ id: sql<InvoiceId>`active.id` }).from(tied(wallet)).limit(limit);
}

/** Reads only the merchant's own active invoices, so that the cost does not depend on other users of the same address. */
function tied(wallet: Wallet) {
  const destination =
    wallet.walletType === "DIRECT_WALLET"
      ? sql`method.address = ${wallet.address}`
      : sql`method.network = ${wallet.network} and method.cryptocurrency = ${wallet.cryptocurrency}`;
  return sql`invoices active join payment_methods method on method.invoice_id = active.id
    where active.merchant_id = ${wallet.merchantId} and active.status in ('AWAITING_PAYMENT', 'PENDING_CONFIRMATION')
    and method.status = 'ACTIVE' and ${destination}`;
}

/** All wallets that a merchant ever had with a key, oldest first. A later wallet continues with the index after the earlier one's last. */
export function selectWalletsOfKey(db: Db, merchantId: MerchantId, keyHash: string) {
  return db
    .select({ id: wallets.id })
    .from(wallets)
    .where(and(eq(wallets.merchantId, merchantId), eq(wallets.keyHash, keyHash)))
    .orderBy(asc(wallets.createdAtMs), asc(wallets.id));
}

/** Addresses given for a wallet, in the order of their indexes, starting after `afterIndex`. Every page costs the same. */
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
 * The longest run of indexes below `nextIndex` whose addresses have no confirmed payment, past which wallet software must scan. Indexes that another
 * merchant with the same key got count as empty, because scanning too far is better than missing an address.
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

/** The lowest index of an extended key that no wallet has passed and no payment method uses, over all merchants, including deleted wallets. */
export function selectFloor(db: Db, keyHash: string) {
  const ofKey = sql`select wallet.id from wallets wallet where wallet.key_hash = ${keyHash}`;
  return db
    .select({
      floor:
        sql<number>`max(coalesce((select max(wallet.next_index) from wallets wallet where wallet.key_hash = ${keyHash}), 0),
        coalesce((select max(method.address_index) + 1 from payment_methods method where method.wallet_id in (${ofKey})
          and method.address_index is not null), 0))`.as("key_floor"),
    })
    .from(sql`(select 1)`);
}
