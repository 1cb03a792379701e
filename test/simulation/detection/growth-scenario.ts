// Coins paid by contracts: in some blocks the balance grows by more than the transactions that a source shows. The unexplained part is called a rest.
// Several readers process one block at once, each with different transactions and a different rest, while the database fails. At the end each coin
// must count once, and a rest may be credited only if exactly one invoice asked for exactly that amount. A block may be replaced by one with some of
// its transactions, which readers find by reading the block or by rechecking its rows.
import { eq } from "drizzle-orm";
import { pairOf } from "../../../src/chains/registry/pair.ts";
import {
  type BlockRef,
  explainerMark,
  growthIdentity,
  type Transfer,
  transferKey,
} from "../../../src/chains/sources/transfer.ts";
import { readFile } from "../../../src/commerce/invoices/change-invoice.ts";
import type { Payment } from "../../../src/commerce/payments/payment.ts";
import { paymentColumns, selectPaymentFile } from "../../../src/commerce/payments/store.ts";
import { applyTransfers, type Findings, type SeenPayment } from "../../../src/detection/matching/apply-transfers.ts";
import { assignPayment } from "../../../src/detection/resolutions/resolve-payment.ts";
import { SECOND_MS } from "../../../src/lib/time.ts";
import { SYSTEM_TRAIL } from "../../../src/platform/audit/entry.ts";
import type { Db } from "../../../src/platform/db/client.ts";
import { faultKind } from "../../../src/platform/db/retry.ts";
import { payments } from "../../../src/platform/db/schema/payments.ts";
import { insist, type Scenario } from "../engine/campaign.ts";
import type { Lab, Row } from "../engine/lab.ts";
import type { Verdict, World } from "../engine/world.ts";
import { ETH, ETHER_ORDERS, isRest, reviewProblem, type Undone, unitsIn } from "./growth-review.ts";
import { ETHER, EVM_ADDRESS, effectsOf, MERCHANT, NOW_MS, type Order } from "./payments-till.ts";

const [LARGE, MIDDLE, SMALL] = [100n * ETH, 40n * ETH, 7n * ETH];
const ABOUT = [(LARGE * 101n) / 100n, (MIDDLE * 101n) / 100n] as const;
/** Exactly what an invoice asks for, what its tolerance forgives, the sum of two, part of one, and arbitrary amounts. */
const AMOUNTS = [
  LARGE,
  MIDDLE,
  SMALL,
  LARGE,
  MIDDLE,
  SMALL,
  ...ABOUT,
  LARGE + MIDDLE,
  MIDDLE / 2n,
  3n * ETH,
  1n,
] as const;

/** What one block contains for the address. */
interface Place {
  readonly block: BlockRef;
  readonly paid: readonly Transfer[];
  /** Payments by contracts, which no transaction shows. */
  readonly byContracts: bigint;
  /** By how much one of the sources overstates the balance; usually 0. */
  readonly misread: bigint;
}

const sumOf = (transfers: readonly Pick<Transfer, "amountUnits">[]) =>
  transfers.reduce((sum, { amountUnits }) => sum + amountUnits, 0n);

function placeOf(world: World, height: number): Place {
  const block = { height, hash: `b${height}`, timeMs: NOW_MS - 20 * SECOND_MS };
  const paid = Array.from({ length: world.pick([0, 1, 1, 2, 3]) }, (_, n): Transfer => {
    const txHash = `0x${height}${n}`.padEnd(66, "c");
    const amountUnits = world.pick(AMOUNTS);
    return { ...transferIn(block, amountUnits), txHash, outputIndex: "native", fromAddress: `0x${"f".repeat(40)}` };
  });
  const byContracts = world.pick([0n, 0n, 0n, ...AMOUNTS]);
  const misread = world.pick([0n, 0n, 0n, 0n, ETH]);
  // A transaction alone in its block pays about what an invoice asked for. If a source hides it, a user decides about the whole amount as a rest;
  // if it is shown, the rules decide.
  const isAlone = paid.length === 1 && byContracts === 0n;
  const amountUnits = ABOUT[height % 2] ?? LARGE;
  return { block, paid: isAlone ? paid.map((each) => ({ ...each, amountUnits })) : paid, byContracts, misread };
}

/** Another block at the same height, with some of the transactions; contract payments may change. */
function replacementOf(world: World, { block, paid, byContracts }: Place): Place {
  const other = { ...block, hash: `other ${block.hash}` };
  const again = paid.filter(() => world.pick([true, true, false]));
  const fresh = placeOf(world, block.height);
  const added = world.pick([true, false]) ? fresh.paid.slice(again.length) : [];
  const here = [...again, ...added.filter(({ txHash }) => !paid.some((each) => each.txHash === txHash))];
  return {
    block: other,
    paid: here.map((each) => ({ ...each, block: other })),
    byContracts: world.pick([true, false]) ? byContracts : fresh.byContracts,
    misread: 0n,
  };
}

function transferIn(block: BlockRef, amountUnits: bigint) {
  const { cryptocurrency } = ETHER;
  return { cryptocurrency, fromAddress: null, toAddress: EVM_ADDRESS, amountUnits, block, spends: [], raw: "{}" };
}

/** A source's view of the block that omits some of its transactions, with or without the growth that they leave unexplained. */
function shownOf(
  { block, paid, byContracts }: Place,
  shown: readonly Transfer[],
  misread: bigint | undefined,
): readonly Transfer[] {
  if (misread === undefined) return shown;
  const units = byContracts + sumOf(paid) - sumOf(shown) + misread;
  if (units === 0n) return shown;
  const growth: Transfer = {
    ...transferIn(block, units),
    ...growthIdentity({ height: block.height, toAddress: EVM_ADDRESS, units }),
    growth: { explainedBy: shown.map(({ txHash }) => explainerMark(txHash)) },
  };
  return [...shown, growth];
}

export function growthScenario(lab: Lab): Scenario {
  return {
    name: "growth",
    lab,
    faultChance: 0.06,
    maxSteps: 6_000,
    kinds: KINDS,
    start(world) {
      const bugs: unknown[] = [];
      const places = [placeOf(world, 10), placeOf(world, 11)];
      const seen = new Map<Place, Seen>(places.map((place) => [place, newSeen()]));
      const reader = readerOf(lab, world, bugs);
      const looker = () => reader(world.pick(TWO).flatMap((n) => showSome(world, places[n], seen)));
      const readers = Array.from({ length: world.pick([1, 2, 3, 4]) }, () => looker);
      // In the end everything is read, from the source with the correct balance.
      const whole = () => reader(places.flatMap((place) => note(seen, place, place.paid, 0n)));
      const replace = () => {
        const at = world.pick([0, 1]);
        const lost = places[at];
        if (lost === undefined) return reader([]);
        const place = replacementOf(world, lost);
        places[at] = place;
        seen.delete(lost);
        seen.set(place, newSeen());
        world.note("a block was replaced");
        isReplaced = true;
        return reader(showSome(world, place, seen), lostRows(lost));
      };
      const back = () => {
        const place = places[world.pick([0, 1])];
        return reader([], place === undefined ? undefined : returning(world, place, seen));
      };
      const undone: Undone = new Map();
      const reviewed = new Set<string>();
      let isReplaced = false;
      const problems: string[] = [];
      let phase = 0;
      const isOneByOne = world.pick([true, false]);
      const user = () => assignRest(lab, world, bugs);
      const assigned = places.some(({ paid }) => paid.length === 1) ? [[user]] : [];
      const first = [...(isOneByOne ? readers.map((each) => [each]) : [readers]), ...assigned];
      const others = world.pick([[[looker, back]], [[back], [looker]], [[looker], [back]], []]);
      const replaced = world.pick([true, false]) ? [...world.pick([[], [[whole]]]), [replace], ...others] : [];
      const phases = [...first, ...replaced, [whole], [whole]];
      const begin = (): void => {
        const now = phases[phase++];
        if (now === undefined) return;
        let left = now.length;
        for (const act of now) {
          act()(() => {
            if (--left > 0) return;
            const problem = placesProblem(lab, world, seen) ?? reviewProblem(lab, world, undone, reviewed, isReplaced);
            if (world.pick([true, false])) writtenLongAgo(lab);
            if (problem !== undefined) problems.push(`after phase ${phase}: ${problem}`);
            begin();
          });
        }
      };
      begin();
      return () => {
        if (bugs.length > 0) return `a bug: ${bugs[0]}`;
        return problems[0] ?? (phase <= phases.length ? `phase ${phase} did not come to an end` : undefined);
      };
    },
  };
}

const TWO: readonly [readonly number[], ...(readonly number[])[]] = [[0], [1], [0, 1]];
const KINDS = [
  "a rest is credited",
  "a rest is unmatched",
  "a rest was replaced",
  "a rest remains in part",
  "sources disagree",
  "a user assigns a rest",
  "what a user assigned is explained in full",
  "what a user assigned is undone",
  "a block was replaced",
  "a transaction is back",
  "a rest is back",
] as const;

/** Makes rows of growth look like those of the first release, which did not record an empty list of explaining transactions. */
function writtenLongAgo(lab: Lab): void {
  lab.rows(`update payments set evidence = json_remove(evidence, '$.explainedBy')
    where tx_hash like 'block:%' and json_array_length(evidence, '$.explainedBy') = 0`);
}

/** What has been shown of a block so far. */
interface Seen {
  readonly hashes: Set<string>;
  /** How much the balance grew in the block, according to the sources. */
  readonly totals: Set<bigint>;
  /** A rest that only a recheck of its row reported. */
  rest: bigint;
}

const newSeen = (): Seen => ({ hashes: new Set(), totals: new Set(), rest: 0n });

type SeenBy = (db: Db) => Promise<readonly SeenPayment[]>;

/** The result of rechecking rows of a block that is no longer on the chain. */
function lostRows({ block }: Place): SeenBy {
  return async (db) => {
    const rows = await db.select(paymentColumns).from(payments).where(eq(payments.blockHash, block.hash));
    return rows.map((payment) => ({ payment, observation: { kind: "unknown" } }));
  };
}

/** The result of rechecking a replaced block's rows: transactions, and a rest, that are also in the new block. */
function returning(world: World, place: Place, seen: ReadonlyMap<Place, Seen>): SeenBy {
  const { block, paid, byContracts } = place;
  const of = seen.get(place);
  const seenOf = (payment: Payment): readonly SeenPayment[] => {
    const mined = { kind: "mined", block } as const;
    if (paid.some((each) => transferKey(each) === transferKey(payment))) {
      of?.hashes.add(payment.txHash);
      world.note("a transaction is back");
      return [{ payment, observation: mined }];
    }
    const growth = { ...growthIdentity({ height: block.height, toAddress: EVM_ADDRESS, units: byContracts }) };
    if (transferKey(payment) !== transferKey(growth) || byContracts === 0n) return [];
    if (of !== undefined) of.rest = byContracts;
    world.note("a rest is back");
    return [{ payment, observation: { ...mined, explainedBy: paid.map(({ txHash }) => explainerMark(txHash)) } }];
  };
  return async (db) =>
    (await db.select(paymentColumns).from(payments).where(eq(payments.status, "REORGED"))).flatMap(seenOf);
}

function showSome(world: World, place: Place | undefined, seen: ReadonlyMap<Place, Seen>): readonly Transfer[] {
  if (place === undefined) return [];
  const share = world.pick([0, 0.5, 1]);
  const shown = place.paid.filter(() => world.random() < share);
  return note(seen, place, shown, world.random() < 0.3 ? undefined : world.pick([0n, place.misread]));
}

function note(
  seen: ReadonlyMap<Place, Seen>,
  place: Place,
  shown: readonly Transfer[],
  misread: bigint | undefined,
): readonly Transfer[] {
  const of = seen.get(place);
  for (const { txHash } of shown) of?.hashes.add(txHash);
  if (misread !== undefined) of?.totals.add(place.byContracts + sumOf(place.paid) + misread);
  return shownOf(place, shown, misread);
}

function readerOf(lab: Lab, world: World, bugs: unknown[]) {
  return (transfers: readonly Transfer[], seenBy: SeenBy = async () => []) =>
    (onDone: () => void): void =>
      insist({
        world,
        attempt: async (client) => {
          const { network } = pairOf(ETHER);
          const deps = effectsOf(lab, world, client);
          const seen = await seenBy(deps.db);
          const look: Findings = { network, heights: { tipHeight: 12, finalizedHeight: null }, transfers, seen };
          const applied = await applyTransfers(deps, look);
          return applied.ok ? { kind: "done", value: applied.value } : { kind: "again", afterMs: SECOND_MS };
        },
        onDone,
        onBug: (error) => bugs.push(error),
        isFault: (error) => faultKind(error) !== "other",
      });
}

const COUNTED = ["DETECTED", "CONFIRMED", "UNMATCHED", "IGNORED"];

function placesProblem(lab: Lab, world: World, seen: ReadonlyMap<Place, Seen>): Verdict {
  const all = lab.rows("select * from payments");
  if (all.some((row) => isRest(row) && row.status === "DROPPED")) world.note("a rest was replaced");
  for (const [place, of] of seen) {
    const rows = all.filter(({ block_hash }) => block_hash === place.block.hash);
    const problem = placeProblem(world, place, of, rows) ?? creditProblem(lab, world, rows);
    if (problem !== undefined) return `block ${place.block.height}: ${problem}`;
  }
  return undefined;
}

/** Each shown transaction counts once, and everything that counts adds up to the growth of the balance. */
function placeProblem(world: World, { paid }: Place, { hashes, totals, rest }: Seen, rows: readonly Row[]): Verdict {
  const counted = rows.filter(({ status }) => COUNTED.includes(String(status)));
  for (const { txHash, amountUnits } of paid) {
    const of = counted.filter(({ tx_hash }) => tx_hash === txHash);
    if (of.length !== (hashes.has(txHash) ? 1 : 0)) return `${txHash} counts ${of.length} times`;
    if (of.some((row) => unitsIn(row) !== amountUnits)) return `${txHash} counts with other units`;
  }
  const rests = counted.filter(isRest);
  if (rests.length > 1) return `${rests.length} rests`;
  const shown = sumOf(paid.filter(({ txHash }) => hashes.has(txHash)));
  const sum = counted.reduce((total, row) => total + unitsIn(row), 0n);
  if (totals.size > 1) world.note("sources disagree");
  // A recheck of a rest's row does not show the transactions that explained it; reading the block will.
  const expected = totals.size === 0 || rest > 0n ? [...totals, shown + rest] : [...totals];
  if (rests.length > 0 && shown > 0n) world.note("a rest remains in part");
  // If sources disagree, the first stored value remains, and transactions are subtracted from it.
  const isKept = totals.size > 1 && sum === shown;
  return expected.includes(sum) || isKept ? undefined : `${sum} count, not ${expected.join(" or ")}`;
}

/** Whether the order asks for this amount, initially or after a partial payment. */
function isAskedBy(lab: Lab, { id, units }: Order, of: bigint): boolean {
  const quoted = lab.rows(
    "select quote.value ->> '$.amountUnits' as units from payment_methods, json_each(quotes) quote where invoice_id = ?",
    id,
  );
  return units === of || quoted.some((quote) => BigInt(quote.units ?? 0) === of);
}

/** A rest belongs to no invoice, or to the one that asked for exactly that amount. */
function creditProblem(lab: Lab, world: World, rows: readonly Row[]): Verdict {
  const isByRules = (row: Row) => isRest(row) && row.matched_by !== "MANUAL" && COUNTED.includes(String(row.status));
  for (const row of rows.filter(isByRules)) {
    const order = ETHER_ORDERS.find(({ id }) => id === row.invoice_id);
    world.note(order === undefined ? "a rest is unmatched" : "a rest is credited");
    if (order !== undefined && !isAskedBy(lab, order, unitsIn(row))) return `a rest of ${row.amount_units} is credited`;
    if (order !== undefined && row.matched_by !== "EXACT_AMOUNT") return `a rest is credited by ${row.matched_by}`;
    const asked = ETHER_ORDERS.some(({ units }) => units === unitsIn(row));
    if (order === undefined && asked) return `a rest of exactly ${row.amount_units} is nobody's`;
    if (order !== undefined) continue;
    const { candidates } = JSON.parse(String(row.evidence));
    const ids: readonly string[] = candidates.map(({ invoiceId }: { readonly invoiceId: string }) => invoiceId);
    if (ids.length !== new Set(ids).size) return "a candidate twice";
    // Any other transfer of that amount would have been credited to the likeliest order.
    const likeliest = ETHER_ORDERS.find(({ units }) => (units * 101n) / 100n === unitsIn(row));
    if (likeliest !== undefined && ids[0] !== likeliest.id) return `${ids[0]} is the first candidate`;
  }
  return undefined;
}

/** A user decides to which invoice a rest belongs, if any. */
function assignRest(lab: Lab, world: World, bugs: unknown[]) {
  return (onDone: () => void): void =>
    insist({
      world,
      attempt: async (client) => {
        const deps = { ...effectsOf(lab, world, client), trail: SYSTEM_TRAIL };
        const rests = lab.rows(
          "select * from payments where tx_hash like 'block:%' and status = 'UNMATCHED' order by id",
        );
        // Most rests belong to an invoice that asked for about the same amount.
        const meant = (row: Row) => ETHER_ORDERS.find(({ units }) => (units * 101n) / 100n === unitsIn(row));
        const rest = rests.find((row) => meant(row) !== undefined) ?? rests[0];
        if (rest === undefined) return { kind: "done", value: undefined };
        const order = meant(rest) ?? ETHER_ORDERS[rests.length % ETHER_ORDERS.length];
        const [read] = await selectPaymentFile(deps.db, MERCHANT, String(rest.id));
        if (order === undefined) throw new Error("no orders");
        const file = await readFile(deps, MERCHANT, order.id);
        if (read === undefined || !file.ok) return { kind: "again", afterMs: SECOND_MS };
        const request = { file: file.value, reason: "seen in person", quorumAboveMicros: null };
        const answer = await assignPayment(deps, read, request);
        if (answer.ok) world.note("a user assigns a rest");
        const isMended = !answer.ok && ["STORAGE_UNAVAILABLE", "CONTENTION"].includes(answer.error.code);
        return isMended ? { kind: "again", afterMs: SECOND_MS } : { kind: "done", value: answer };
      },
      onDone,
      onBug: (error) => bugs.push(error),
      isFault: (error) => faultKind(error) !== "other",
    });
}
