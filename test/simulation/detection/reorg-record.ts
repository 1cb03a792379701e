// Records what a watcher was shown, and what it had stored after each pass. If a payment's facts change, the change must be visible, the old facts
// must be kept as evidence, and the payment must count from a time at which a source showed exactly the new facts.
import { assetOn, type Network } from "../../../src/chains/registry/networks.ts";
import type { Transfer } from "../../../src/chains/sources/transfer.ts";
import { formatUnits } from "../../../src/lib/money.ts";
import { chainOf, type Output, type Tree } from "./chain-tree.ts";
import type { Row } from "./reorg-shop.ts";

/** An output as text: if the texts of two observations of one output are equal, they are the same payment. */
export function effectText({ amountUnits, cryptocurrency, toAddress }: Output): string {
  return `${amountUnits} ${cryptocurrency} to ${toAddress}`;
}

export function effectOf(row: Row): string {
  return `${row.amount_units} ${row.cryptocurrency} to ${row.to_address}`;
}

export const keyOf = (row: Row) => `${row.tx_hash}:${row.output_index}`;

/** Whether a row represents coins that are on the chain or may arrive. */
export function isStanding({ status }: Row): boolean {
  return status !== "REORGED" && status !== "DROPPED";
}

/** A change to the coins or the invoice of a payment that belongs or belonged to an invoice. */
interface Changed {
  readonly id: string;
  readonly atMs: number;
  readonly before: Row;
  readonly after: Row;
}

interface Known {
  readonly row: Row;
  /** The end of the pass that first stored these coins. */
  readonly sinceMs: number;
}

export class Record {
  readonly changes: Changed[] = [];
  readonly #network: Network;
  /** For each output and effect, the times at which a source showed it, and its blocks' times. */
  readonly #times = new Map<string, Set<number>>();
  readonly #lastShown = new Map<string, Output>();
  readonly #known = new Map<string, Known>();
  /** What the rows of each transaction have shown, except dust. */
  readonly #stored = new Map<string, Map<string, Row>>();
  readonly #note: (name: string) => void;

  constructor(network: Network, note: (name: string) => void) {
    this.#network = network;
    this.#note = note;
  }

  shown(transfer: Transfer, atMs: number): void {
    const key = `${transfer.txHash}:${transfer.outputIndex}`;
    const times = this.#times.get(`${key} ${effectText(transfer)}`) ?? new Set();
    times.add(atMs);
    if (transfer.block !== null) times.add(transfer.block.timeMs);
    this.#times.set(`${key} ${effectText(transfer)}`, times);
    const last = this.#lastShown.get(key);
    if (last !== undefined) {
      if (last.amountUnits !== transfer.amountUnits) this.#note("shown again: another amount");
      if (last.toAddress !== transfer.toAddress) this.#note("shown again: another recipient");
      if (last.cryptocurrency !== transfer.cryptocurrency) this.#note("shown again: another asset");
    }
    this.#lastShown.set(key, transfer);
  }

  /** Call this after each pass with all rows of payments. */
  stored(rows: readonly Row[], atMs: number): void {
    for (const row of rows) {
      const id = String(row.id);
      const before = this.#known.get(id);
      const isSame = before !== undefined && effectOf(before.row) === effectOf(row);
      // A replaced payment counts from its next observation.
      const isOn = isSame && before.row.status !== "DROPPED";
      this.#known.set(id, { row, sinceMs: isOn ? before.sinceMs : atMs });
      if (before !== undefined && (!isSame || before.row.invoice_id !== row.invoice_id)) {
        this.#note(isSame ? "stored: another invoice" : "stored: other money");
        if (before.row.invoice_id !== null || row.invoice_id !== null)
          this.changes.push({ id, atMs, before: before.row, after: row });
      }
      if (row.status === "IGNORED") continue;
      const said = this.#stored.get(String(row.tx_hash)) ?? new Map<string, Row>();
      said.set(effectOf(row), row);
      this.#stored.set(String(row.tx_hash), said);
    }
  }

  /** Returns what is wrong with the times of payments in blocks. */
  timeProblem(rows: readonly Row[]): string | undefined {
    for (const row of rows) {
      if (row.block_height === null || !isStanding(row)) continue;
      const key = keyOf(row);
      const [atMs, blockMs] = [Number(row.received_at_ms), Number(row.block_time_ms)];
      const sinceMs = this.#known.get(String(row.id))?.sinceMs ?? Number.POSITIVE_INFINITY;
      if (atMs > blockMs) return `${key} counts from ${atMs - blockMs} ms after its block`;
      if (atMs > sinceMs) return `${key} counts from ${atMs - sinceMs} ms after it was seen`;
      if (this.#times.get(`${key} ${effectOf(row)}`)?.has(atMs) !== true)
        return `${key} counts from a time at which nobody showed ${effectOf(row)}`;
      this.#note(atMs < blockMs ? "payment seen before its block" : "payment as old as its block");
    }
    return undefined;
  }

  /** Everything that a row showed about a transaction must still be stored, in a row or in a row's evidence. */
  evidenceProblem(rows: readonly Row[]): string | undefined {
    const ofTransaction = Map.groupBy(rows, ({ tx_hash }) => String(tx_hash));
    for (const [hash, said] of this.#stored) {
      const kept = (ofTransaction.get(hash) ?? []).map((row) => `${effectOf(row)} ${row.evidence}`);
      for (const [effect, row] of said) {
        const units = BigInt(String(row.amount_units));
        const decimals = assetOn(this.#network, String(row.cryptocurrency))?.decimals ?? 0;
        const has = (text: string) => kept.some((each) => each.includes(text));
        const isKept =
          (has(String(units)) || has(formatUnits(units, decimals))) &&
          has(String(row.to_address)) &&
          has(String(row.cryptocurrency));
        if (!isKept) return `nothing says that ${hash} was ${effect} once`;
      }
    }
    return undefined;
  }
}

/** What blocks of a tree really contained, as `output block effect`. */
export function truthOf({ views, last }: Tree): ReadonlySet<string> {
  const blocks = new Set([...views, last].flatMap(({ tip }) => chainOf(tip)));
  return new Set(
    [...blocks].flatMap(({ ref, mined }) =>
      mined.flatMap(({ transaction, outputs }) =>
        outputs.map((output, n) => `${transaction.hash}:${n} ${ref.hash} ${effectText(output)}`),
      ),
    ),
  );
}
