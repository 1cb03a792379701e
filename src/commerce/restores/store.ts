import { and, eq, getTableColumns, isNull, type SQL, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import type { InvoiceId, RestoreFindingId } from "../../lib/ids.ts";
import type { PageRequest } from "../../lib/pagination.ts";
import type { Db } from "../../platform/db/client.ts";
import { countOf, newestFirst, olderThan } from "../../platform/db/lists.ts";
import { apiKeys } from "../../platform/db/schema/api-keys.ts";
import { customers } from "../../platform/db/schema/customers.ts";
import { setUpLinks } from "../../platform/db/schema/deployment.ts";
import { invoices } from "../../platform/db/schema/invoices.ts";
import { merchants } from "../../platform/db/schema/merchants.ts";
import { methodAmounts } from "../../platform/db/schema/method-amounts.ts";
import { networkCursors } from "../../platform/db/schema/network-cursors.ts";
import { leftOutTransfers, payments } from "../../platform/db/schema/payments.ts";
import { restoreFindings, restores } from "../../platform/db/schema/restores.ts";
import { invitations, members } from "../../platform/db/schema/teams.ts";
import {
  backupCodes,
  emailCodes,
  identities,
  passkeys,
  sessions,
  singleUseTokens,
  users,
} from "../../platform/db/schema/users.ts";
import { wallets } from "../../platform/db/schema/wallets.ts";
import type { KeptRevocation, RevokedColumns } from "../../platform/revocations/revocation.ts";
import type { Restore, ShownPlace } from "./restore.ts";

export function selectRestore(db: Db, epoch: number) {
  const unfinished = sql`select min(restored_to_ms) from restores where epoch <= ${epoch} and phase <> 'DONE'`;
  return db
    .select({
      ...getTableColumns(restores),
      fromMs: sql<number>`coalesce((${unfinished}), restored_to_ms)`.as("from_ms"),
    })
    .from(restores)
    .where(eq(restores.epoch, epoch));
}

export function insertRestore(db: Db, restore: typeof restores.$inferInsert) {
  return db.insert(restores).values(restore);
}

/** Ends earlier imports, because this one has taken over their work. */
export function endEarlierRestores(db: Db, epoch: number, nowMs: number) {
  return db.update(restores).set({ phase: "DONE", endedAtMs: nowMs }).where(sql`epoch < ${epoch} and phase <> 'DONE'`);
}

/** Records an import's progress, and adds to its counts. */
export function advanceRestore(
  db: Db,
  epoch: number,
  of: Pick<Restore, "phase" | "atName" | "atPlace"> &
    Partial<Pick<Restore, "openedAtMs" | "endedAtMs">> & {
      readonly added: Pick<Restore, "objects" | "revocations" | "recovered" | "findings">;
    },
) {
  const { added, ...position } = of;
  return db
    .update(restores)
    .set({
      ...position,
      objects: sql`objects + ${added.objects}`,
      revocations: sql`revocations + ${added.revocations}`,
      recovered: sql`recovered + ${added.recovered}`,
      findings: sql`findings + ${added.findings}`,
    })
    .where(eq(restores.epoch, epoch));
}

/**
 * Ends every session, and everything that was emailed or handed out for a single use, because the database does not know what was used or revoked in
 * the lost time. The rows of emailed codes are kept, because they limit further emails; the rows of used set-up links are kept too.
 */
export function endAccess(db: Db, nowMs: number) {
  return [
    db.update(sessions).set({ revokedAtMs: nowMs }).where(isNull(sessions.revokedAtMs)),
    db
      .update(invitations)
      .set({ revokedAtMs: nowMs, updatedAtMs: nowMs, mailDueAtMs: null, waitsForMailbox: false })
      .where(and(isNull(invitations.acceptedAtMs), isNull(invitations.revokedAtMs))),
    db.update(emailCodes).set({ consumedAtMs: nowMs }).where(isNull(emailCodes.consumedAtMs)),
    db.delete(singleUseTokens),
    db.delete(setUpLinks).where(isNull(setUpLinks.usedAtMs)),
  ] as const;
}

/**
 * Lowers the cursors of networks that were read beyond a time, so that they are read again from that time on: one network or all, including addresses
 * with their own progress. Reading again changes nothing by itself; but transfers that were left out are decided again, because their invoice may
 * have been recovered.
 */
export function lowerCursors(db: Db, restoredToMs: number, network: string | null = null) {
  const ofNetwork = sql`(${network} is null or network = ${network})`;
  // The network may have been read further after its cursor was lowered, without `passed_ms` advancing. Items recovered since then were not among the
  // recipients of that read.
  const isBeyond = (hasRead: string) =>
    sql`(passed_ms > ${restoredToMs} or (passed_ms = ${restoredToMs} and (${sql.raw(hasRead)}))) and ${ofNetwork}`;
  return [
    db
      .update(networkCursors)
      .set({
        sinceMs: restoredToMs,
        passedMs: restoredToMs,
        height: null,
        hash: null,
        checkpoints: "[]",
        progress: sql`json_object('good', json(coalesce(json_extract(progress, '$.good'), '[]')))`,
      })
      .where(isBeyond("height is not null")),
    db.run(sql`update stuck_addresses set passed_ms = ${restoredToMs}, read_height = 0, walk = null
        where ${isBeyond("read_height > 0 or walk is not null")}`),
    db.delete(leftOutTransfers).where(sql`decided_at_ms >= ${restoredToMs} and ${ofNetwork}`),
  ] as const;
}

/** Which of the rows exist that the recovery of a place depends on; always one row. */
export function selectGround(
  db: Db,
  of: { readonly merchantId: string; readonly externalId: string | null; readonly customerId: string | null },
) {
  return db
    .select({
      hasMerchant: sql<number>`exists (select 1 from ${merchants} where id = ${of.merchantId})`.as("has_merchant"),
      hasExternalId:
        sql<number>`exists (select 1 from ${invoices} where merchant_id = ${of.merchantId} and external_id = ${of.externalId})`.as(
          "has_external_id",
        ),
      hasCustomer:
        sql<number>`exists (select 1 from ${customers} where id = ${of.customerId} and merchant_id = ${of.merchantId})`.as(
          "has_customer",
        ),
    })
    .from(sql`(select 1)`);
}

/** A row if the invoice has an active method with this address. */
export function selectOwnAddress(db: Db, { invoiceId, address }: Pick<ShownPlace, "invoiceId" | "address">) {
  return db
    .select({ id: sql<InvoiceId>`invoice_id`.as("shown_by") })
    .from(sql`payment_methods`)
    .where(sql`invoice_id = ${invoiceId} and address = ${address} and status = 'ACTIVE'`);
}

/** The row of an amount, released or not. */
export function selectAmountRow(
  db: Db,
  of: {
    readonly network: string;
    readonly cryptocurrency: string;
    readonly address: string;
    readonly invoiceId: InvoiceId;
    readonly units: bigint;
  },
) {
  const held = methodAmounts;
  return db
    .select({ invoiceId: held.invoiceId })
    .from(held)
    .where(
      and(
        eq(held.network, of.network),
        eq(held.cryptocurrency, of.cryptocurrency),
        eq(held.address, of.address),
        eq(held.invoiceId, of.invoiceId),
        eq(held.units, of.units),
      ),
    );
}

/**
 * Deletes unmatched payments of these units that were stored since the restored minute, while the invoice was missing, so that they are read again
 * and credited. A transfer that still has a row is not decided again, so the rows of all merchants at the address are deleted, unless one of them is
 * credited or a user has decided about it.
 */
export function forgetUnmatched(
  db: Db,
  of: Pick<ShownPlace, "address"> & {
    readonly network: string;
    readonly cryptocurrency: string;
    readonly units: bigint;
    readonly sinceMs: number;
  },
) {
  return db.delete(payments).where(
    and(
      sql`network = ${of.network} and to_address = ${of.address} and status = 'UNMATCHED' and created_at_ms >= ${of.sinceMs}`,
      sql`cryptocurrency = ${of.cryptocurrency} and amount_units = ${of.units.toString()}`,
      sql`not exists (select 1 from payments row where row.network = payments.network and row.tx_hash = payments.tx_hash
          and row.output_index = payments.output_index and (row.invoice_id is not null or row.resolution is not null))`,
    ),
  );
}

/** Changes nothing if the finding exists because its step is repeated. */
export function insertFinding(db: Db, finding: typeof restoreFindings.$inferInsert) {
  return db.insert(restoreFindings).values(finding).onConflictDoNothing().returning({ id: restoreFindings.id });
}

/** One page, newest first. */
export function selectFindingPage(
  db: Db,
  isOpenOnly: boolean,
  { after, limit, offset }: Pick<PageRequest, "after" | "limit" | "offset">,
) {
  return db
    .select()
    .from(restoreFindings)
    .where(and(olderThan(restoreFindings, after), ...ofState(isOpenOnly)))
    .orderBy(...newestFirst(restoreFindings))
    .limit(limit)
    .offset(offset);
}

/** How many findings there are; reads nothing unless `isWanted`. */
export function countFindings(db: Db, isOpenOnly: boolean, isWanted: boolean) {
  return countOf(db, restoreFindings, isWanted, ofState(isOpenOnly));
}

function ofState(isOpenOnly: boolean): (SQL | undefined)[] {
  return isOpenOnly ? [isNull(restoreFindings.reviewedAtMs)] : [];
}

export function selectFinding(db: Db, id: string) {
  return db.select().from(restoreFindings).where(sql`id = ${id}`);
}

/** Marks a finding as reviewed. One that is already marked keeps the time and author of that review. */
export function markReviewed(db: Db, id: RestoreFindingId, of: { readonly nowMs: number; readonly userId: string }) {
  return db
    .update(restoreFindings)
    .set({ reviewedAtMs: of.nowMs, reviewedBy: of.userId })
    .where(and(eq(restoreFindings.id, id), isNull(restoreFindings.reviewedAtMs)));
}

/** The member, if they are the owner: then a revocation that removed them or changed their role cannot simply be repeated. */
export function selectOwnerSeat(db: Db, merchantId: string, memberId: string) {
  return db
    .select({ id: members.id })
    .from(members)
    .where(sql`merchant_id = ${merchantId} and id = ${memberId} and role = 'OWNER'`);
}

/**
 * Repeats a revocation. Changes nothing if the row is gone. An operator's role, a TOTP secret or an identity that was added after the revocation is
 * kept.
 */
export function repeatRevocation(db: Db, owner: string, { kind, target, columns, atMs }: KeptRevocation) {
  switch (kind) {
    case "API_KEY":
      return setColumns(db, apiKeys, columns, sql`id = ${target} and merchant_id = ${owner}`);
    case "WALLET":
      return setColumns(db, wallets, columns, sql`id = ${target} and merchant_id = ${owner}`);
    case "INVITATION":
      return setColumns(
        db,
        invitations,
        columns,
        sql`id = ${target} and merchant_id = ${owner} and accepted_at_ms is null`,
      );
    case "MERCHANT":
      return setColumns(db, merchants, columns, sql`id = ${target}`);
    case "MEMBER_REMOVED":
      return db.delete(members).where(sql`id = ${target} and merchant_id = ${owner} and role <> 'OWNER'`);
    case "MEMBER_ROLE":
      // Ownership is never changed automatically: the item becomes a finding.
      return db
        .update(members)
        .set({ updatedAtMs: atMs, role: sql`${columns.role}` })
        .where(sql`id = ${target} and merchant_id = ${owner} and role <> 'OWNER' and ${columns.role} <> 'OWNER'`);
    case "OPERATOR":
      return db
        .update(users)
        .set({ operatorSinceMs: null, updatedAtMs: atMs })
        .where(sql`id = ${target} and operator_since_ms <= ${atMs}`);
    case "PASSKEY":
      return db.delete(passkeys).where(sql`id = ${target} and user_id = ${owner}`);
    case "TOTP":
      return db
        .update(users)
        .set({ totpSecret: null, totpEnabledAtMs: null, totpLastStep: null, updatedAtMs: atMs })
        .where(sql`id = ${target} and totp_enabled_at_ms <= ${atMs}`);
    case "BACKUP_CODES":
      return db.delete(backupCodes).where(sql`user_id = ${target}`);
    case "IDENTITY":
      return db
        .delete(identities)
        .where(
          sql`provider = ${columns.provider} and subject = ${columns.subject} and user_id = ${owner} and created_at_ms <= ${atMs}`,
        );
  }
}

function setColumns(db: Db, table: SQLiteTable, columns: RevokedColumns, where: SQL) {
  const assignments = Object.entries(columns).map(([name, value]) => sql`${sql.identifier(name)} = ${value}`);
  return db.run(sql`update ${table} set ${sql.join(assignments, sql`, `)} where ${where}`);
}
