// Checks, in the growth simulation, whether a user is notified of what happens to the rests that they assigned. A rest is the part of a balance's
// growth that no transaction explains.
import { explainerMark } from "../../../src/chains/sources/transfer.ts";
import type { Lab, Row } from "../engine/lab.ts";
import type { Verdict, World } from "../engine/world.ts";
import { ETHER, type Order, orderOf, shared } from "./payments-till.ts";

export const ETH = 10n ** 18n;
/** The n-th order: it asks for this much ether, at a price of one dollar per ether. */
const asks = (n: number, ether: bigint) =>
  orderOf(n, { pair: ETHER, ...shared, units: ether * ETH, expectedMicros: ether * 1_000_000n });
export const ETHER_ORDERS: readonly Order[] = [asks(1, 100n), asks(2, 40n), asks(3, 7n)];

export const unitsIn = ({ amount_units }: Row) => BigInt(amount_units ?? 0);
export const isRest = ({ tx_hash }: Row) => String(tx_hash).startsWith("block:");
const marksOf = ({ evidence }: Row): readonly string[] => JSON.parse(String(evidence)).explainedBy ?? [];

/**
 * Assigned payments that were dropped, and whether their invoice lost value because of that. This is recorded when it happens, because the block may
 * be replaced later.
 */
export type Undone = Map<string, boolean>;

/** An invoice must need a review if, and only if, transactions that credit it less have replaced a payment that a user assigned. */
export function reviewProblem(
  lab: Lab,
  world: World,
  undone: Undone,
  reviewed: Set<string>,
  isReplaced: boolean,
): Verdict {
  const all = lab.rows("select * from payments where invoice_id is not null");
  for (const { id, needs_review } of lab.rows("select id, needs_review from invoices")) {
    const own = all.filter(({ invoice_id }) => invoice_id === id);
    const isInFull = (rest: Row) =>
      own.some(
        (row) =>
          !isRest(row) &&
          row.fiat_micros !== null &&
          isSameHeight(row, rest) &&
          unitsIn(row) >= unitsIn(rest) &&
          !marksOf(rest).includes(explainerMark(String(row.tx_hash))),
      );
    for (const row of own.filter(({ matched_by }) => matched_by === "MANUAL")) {
      const rest = String(row.id);
      if (row.status !== "DROPPED") undone.delete(rest);
      else if (!undone.has(rest)) {
        undone.set(rest, !isInFull(row));
        world.note(`what a user assigned is ${isInFull(row) ? "explained in full" : "undone"}`);
        if (!isInFull(row)) reviewed.add(String(id));
      }
    }
    const order = ETHER_ORDERS.find((each) => each.id === id);
    const isOver = own.some(
      (row) => row.matched_by === "SOLE_CANDIDATE" && unitsIn(row) > ((order?.units ?? 0n) * 105n) / 100n,
    );
    const needsOne = reviewed.has(String(id));
    if (needsOne && needs_review !== 1) return `${id} needs a review`;
    // A row that comes back replaces a rest, but does not show whether it is worth as much to the invoice.
    if (!needsOne && !isOver && !isReplaced && needs_review === 1) return `${id} needs no review`;
  }
  return undefined;
}

/** The id of a rest contains the height of its block. */
const isSameHeight = (row: Row, { tx_hash }: Row) => String(tx_hash) === `block:${row.block_height}`;
