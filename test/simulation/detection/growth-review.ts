// Whether a user is notified of what happens to the rests they assigned, in the growth simulation.
import { explainerMark } from "../../../src/chains/sources/transfer.ts";
import type { Lab, Row } from "../engine/lab.ts";
import type { Verdict, World } from "../engine/world.ts";
import { ETHER, type Order, orderOf, shared } from "./payments-till.ts";

export const ETH = 10n ** 18n;
/** E in micro-units of a dollar. */
const asks = (n: number, ether: bigint) =>
  orderOf(n, { pair: ETHER, ...shared, units: ether * ETH, expectedMicros: ether * 1_000_000n });
export const ETHER_ORDERS: readonly Order[] = [asks(1, 100n), asks(2, 40n), asks(3, 7n)];

export const unitsIn = ({ amount_units }: Row) => BigInt(amount_units ?? 0);
export const isRest = ({ tx_hash }: Row) => String(tx_hash).startsWith("block:");
const marksOf = ({ evidence }: Row): readonly string[] => JSON.parse(String(evidence)).explainedBy ?? [];

/** Assigned payments that are gone, and whether the invoice got less because of it. Judged at that time: later a block may be replaced. */
export type Undone = Map<string, boolean>;

/** A user is notified if what they assigned is explained by transactions that bring its invoice less, and only then. */
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
    // A row that comes back replaces growth without saying that it brings as much.
    if (!needsOne && !isOver && !isReplaced && needs_review === 1) return `${id} needs no review`;
  }
  return undefined;
}

/** A rest names its block's height. */
const isSameHeight = (row: Row, { tx_hash }: Row) => String(tx_hash) === `block:${row.block_height}`;
