// The acting user's seat in the team. The batch of a change asserts it, so that a user who loses the seat at the same time writes nothing.

import { err, ok, type Result } from "../../lib/result.ts";
import type { Sleep } from "../../lib/sleep.ts";
import { type CurrentRow, currentRow } from "../../platform/changes/change.ts";
import type { Db } from "../../platform/db/client.ts";
import { readRow } from "../../platform/db/retry.ts";
import type { Write } from "../../platform/db/statement.ts";
import type { Failure } from "../../platform/failures.ts";
import { type Seat, selectSeat } from "../merchant-records/store.ts";
import type { Permission } from "../roles/permissions.ts";
import { ROLE_PERMISSIONS } from "../roles/roles.ts";
import { assertSeat } from "./store.ts";

export interface Acting {
  /** The member's seat, from the storage call that authenticated the caller; undefined for a key and the system. */
  readonly seat: Seat | undefined;
  /** The permission that the change needs. */
  readonly permission: Permission;
}

/** The user's seat; undefined for a key. */
export function seatOf(principal: ({ readonly kind: "USER" } & Seat) | { readonly kind: "API_KEY" }): Seat | undefined {
  return principal.kind === "USER" ? principal : undefined;
}

/** Returns the seat: the one read during authentication for the first attempt, and a newly read one for each later attempt. */
export async function actingSeat(
  deps: { readonly db: Db; readonly sleep: Sleep },
  { seat, permission }: Acting,
  tries: number,
): Promise<Result<Seat | undefined, Failure>> {
  return tries === 0 || seat === undefined ? ok(seat) : seatNow(deps, { seat, permission });
}

/** A member's current seat. Returns the same refusal as the access check if the user has left the team or lost the permission. */
export async function seatNow(
  deps: { readonly db: Db; readonly sleep: Sleep },
  { seat, permission }: { readonly seat: Seat; readonly permission: Permission },
): Promise<Result<Seat, Failure>> {
  const row = await readRow(deps.sleep, () => selectSeat(deps.db, seat), { code: "MERCHANT_NOT_FOUND" });
  if (!row.ok) return row;
  const { role } = row.value;
  if (!ROLE_PERMISSIONS[role].has(permission)) return err({ code: "PERMISSION_DENIED", permission });
  return ok({ ...seat, role });
}

export interface RowAndSeat<Row> {
  readonly row: Row;
  readonly seat: Seat | undefined;
}

/**
 * Returns the row and the seat: those read during authentication for the first attempt, and newly read ones for each later attempt. `recheck`: a
 * further check after a failed batch.
 */
export async function currentRowAndSeat<Row>(
  deps: { readonly db: Db; readonly sleep: Sleep },
  of: Acting & CurrentRow<Row> & { readonly recheck?: (() => Promise<Result<unknown, Failure>>) | undefined },
  tries: number,
): Promise<Result<RowAndSeat<Row>, Failure>> {
  const seat = await actingSeat(deps, of, tries);
  if (!seat.ok) return seat;
  const row = await currentRow(deps, of, tries);
  if (!row.ok) return row;
  const rechecked = tries === 0 ? undefined : await of.recheck?.();
  return rechecked?.ok === false ? rechecked : ok({ row: row.value, seat: seat.value });
}

/** Aborts the batch if the seat has changed since it was read. */
export function seatHeld(deps: { readonly db: Db }, seat: Seat | undefined): readonly Write[] {
  return seat === undefined ? [] : [assertSeat(deps.db, { ...seat, id: seat.memberId })];
}
