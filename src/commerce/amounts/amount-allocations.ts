// Records which invoice holds which amount of an asset at the address of direct wallets (decisions 4, "Amount for a direct wallet"; 12, "Shared
// addresses and keys"). The table belongs to the address, not to a merchant, so two invoices of the same rank never hold the same amount, even if
// they belong to different merchants. An invoice keeps its amount until the time that was promised when the amount was given, even if the invoice was
// never stored, so restoring an earlier copy of the database frees no amount. The storage may be empty although the address was already used, in a
// database that was moved here from another deployment (docs/operations/export.md). A new allocator therefore first takes over the amounts in D1
// (`begin`). Every method is synchronous: no other call can run between its statements.

import { pairOf } from "../../chains/registry/pair.ts";
import type { ObjectStorage } from "../../lib/object-storage.ts";
import { MINUTE_MS } from "../../lib/time.ts";
import type { Rank } from "../../platform/column-values.ts";
import { isShared, UNPROVEN } from "../ranks/rank.ts";
import type { AmountPlace } from "./amount-place.ts";
import type { AmountAnswer, AmountRequest, InvoiceAmount, OverdueAmount, StandingAmount } from "./amount-request.ts";
import { CHECK_AFTER_MS, createAmountTables, padded, rankIn, unitsIn } from "./amount-tables.ts";
import { type AmountGrain, candidateUnits, saltCapacity, saltedUnits } from "./direct-amount.ts";
import {
  type AmountRefusal,
  type Holding,
  type HoldingBounds,
  heldUntilMs,
  holdingBounds,
  holdingRefusal,
  lifetimeRefusal,
  NO_LONGER_HELD,
} from "./holding.ts";
import { PriceSalts } from "./price-salts.ts";
import { isNewPlace, takeOver } from "./standing-amounts.ts";

/**
 * How long after an amount was given it is first looked up in D1, if a limit counts it. By then the batch of the call that requested it has committed
 * or never will: the lease of an operation is 30 s, its five tries and a stall of D1 take less than three minutes, and a takeover requests the amount
 * again. An even later batch does no harm, because the invoice keeps the amount: the count is then one too low.
 */
const STORED_AFTER_MS = 10 * MINUTE_MS;
/** How many failed searches are remembered. Each takes about 150 bytes. */
const MOST_EXHAUSTED = 1_000;
/** How many candidates each successive query checks; the first few usually include a free one. */
const LOOKS: readonly number[] = [64, 1_024, 10_001];

interface Row {
  readonly units: bigint;
  readonly priceUnits: bigint;
  readonly rank: Rank;
  readonly heldUntilMs: number;
  readonly isCounted: boolean;
  readonly lowSince: string | null;
}

type Asker = Pick<AmountRequest, "merchantId" | "invoiceId"> & { readonly rank: Rank };

/** Whether limits apply to a request, and how long it would hold an amount. */
interface Terms extends Pick<AmountRequest, "nowMs"> {
  readonly untilMs: number;
  /** Whether a limit applies to the amount. */
  readonly isLimited: boolean;
  refusalOf(units: bigint): AmountRefusal | undefined;
}

export class AmountAllocations {
  readonly #storage: ObjectStorage;
  readonly #place: AmountPlace;
  readonly #prices: PriceSalts;
  /**
   * Searches that found no free amount, remembered because a page that waits for an amount repeats its request. Allocating frees nothing, so each
   * result holds until an amount is freed. The set is lost when the Durable Object is evicted.
   */
  readonly #exhausted = new Set<string>();

  constructor(storage: ObjectStorage, place: AmountPlace) {
    this.#storage = storage;
    this.#place = place;
    this.#prices = new PriceSalts(storage, place);
    createAmountTables(storage);
  }

  /** Whether the storage has no amounts and `begin` was never called. */
  isNew(): boolean {
    return isNewPlace(this.#storage);
  }

  /** Takes over `standing`, the unreleased amounts in D1. Does not change amounts allocated here. */
  begin(standing: readonly StandingAmount[]): void {
    this.#storage.transactionSync(() => takeOver(this.#storage, this.#place, standing));
  }

  /**
   * Allocates an amount for each request, in order; each allocation sees the ones before it. A repeated request for the same invoice and price gets
   * the same amount, and never shortens its hold. The limits apply to it only if that amount is no longer counted. A refused request takes no amount.
   */
  allocate(requests: readonly AmountRequest[]): readonly AmountAnswer[] {
    return requests.map((request) => this.#storage.transactionSync(() => this.#allocateOne(request)));
  }

  /**
   * Frees amounts whose hold has ended; the caller has checked that their invoices no longer need them. Returns, for each amount, whether its invoice
   * no longer holds it: false if the hold has not ended yet.
   */
  release(amounts: readonly InvoiceAmount[], nowMs: number): readonly boolean[] {
    return this.#storage.transactionSync(() =>
      amounts.map(({ invoiceId, units }) => {
        const [row] = this.#exec("SELECT held_until_ms FROM amounts WHERE units = ? AND invoice_id = ?", [
          padded(units),
          invoiceId,
        ]);
        if (row !== undefined && Number(row.held_until_ms) >= nowMs) return false;
        if (row !== undefined) this.#free({ invoiceId, units });
        return true;
      }),
    );
  }

  /** When an amount must next be looked up in D1; null if there are no amounts. */
  nextCheckMs(): number | null {
    const next = this.#exec("SELECT min(check_after_ms) AS next FROM amounts", [])[0]?.next ?? null;
    return next === null ? null : Number(next);
  }

  /** At most `limit` amounts that are due to be looked up in D1, the longest overdue first. */
  overdue(nowMs: number, limit: number): readonly OverdueAmount[] {
    const rows = this.#exec(
      "SELECT units, invoice_id, check_after_ms FROM amounts WHERE check_after_ms <= ? ORDER BY check_after_ms, units LIMIT ?",
      [nowMs, limit],
    );
    return rows.map((row) => ({
      units: unitsIn(row.units),
      invoiceId: String(row.invoice_id),
      checkAfterMs: Number(row.check_after_ms),
    }));
  }

  /**
   * Frees overdue amounts that have no unreleased row in D1 and whose hold ended at least `CHECK_AFTER_MS` ago. Among the others, the limits count
   * those that have a row; all of them are checked again later. Skips amounts whose check was postponed after `overdue` read them, because they were
   * given again.
   */
  settle(overdue: readonly OverdueAmount[], standing: readonly InvoiceAmount[], nowMs: number): void {
    const keyOf = ({ invoiceId, units }: InvoiceAmount) => `${invoiceId} ${units}`;
    const stands = new Set(standing.map(keyOf));
    this.#storage.transactionSync(() => {
      for (const amount of overdue) {
        const { invoiceId } = amount;
        const of = [padded(amount.units), invoiceId];
        const [same] = this.#exec(
          "SELECT held_until_ms FROM amounts WHERE units = ? AND invoice_id = ? AND check_after_ms = ?",
          [...of, amount.checkAfterMs],
        );
        if (same === undefined) continue;
        const isStored = stands.has(keyOf(amount));
        const endMs = Number(same.held_until_ms);
        if (!isStored && endMs + CHECK_AFTER_MS <= nowMs) {
          this.#free(amount);
          continue;
        }
        const next = [Number(isStored), Math.max(endMs, nowMs) + CHECK_AFTER_MS];
        this.#exec("UPDATE amounts SET is_counted = ?, check_after_ms = ? WHERE units = ? AND invoice_id = ?", [
          ...next,
          ...of,
        ]);
      }
    });
  }

  #free({ invoiceId, units }: InvoiceAmount): void {
    this.#exhausted.clear();
    this.#exec("DELETE FROM amounts WHERE units = ? AND invoice_id = ?", [padded(units), invoiceId]);
    this.#exec("DELETE FROM prices WHERE invoice_id = ? AND units = ?", [invoiceId, padded(units)]);
  }

  #allocateOne(request: AmountRequest): AmountAnswer {
    const { invoiceId, merchantId, priceUnits, sharing, nowMs } = request;
    const own = this.#heldBy(invoiceId);
    const rank = own[0]?.rank ?? sharing.rank;
    const isSharedHere = isShared(sharing, rank);
    // A later amount is held at least as long as an earlier one, because the page may still show either of them.
    const untilMs = Math.max(
      heldUntilMs(request, { isShared: isSharedHere, rank }),
      ...own.map((each) => each.heldUntilMs),
    );
    const { asset } = pairOf(this.#place);
    const asker = { merchantId, invoiceId, rank };
    const terms: Terms = {
      untilMs,
      nowMs,
      isLimited: isSharedHere || request.isPublic,
      refusalOf: (units) =>
        this.#holdingRefusal(holdingBounds({ rank, isPublic: request.isPublic }, units, asset), {
          asker,
          isShared: isSharedHere,
          others: sharing.provenOthers,
        }),
    };
    const kept = own.find((each) => each.priceUnits === priceUnits);
    if (kept !== undefined) return this.#keep(kept, terms);
    // An invoice's own amounts count as free for it, so the results of failed searches are shared only among invoices without an amount.
    const search = [priceUnits, rank, merchantId, own.length === 0 ? "" : invoiceId].join(" ");
    const salt = this.#exhausted.has(search) ? undefined : this.#freeSalt(priceUnits, asset, asker);
    if (salt === undefined) return this.#refuseExhausted(search);
    const units = saltedUnits(priceUnits, asset, salt);
    const same = own.find((each) => each.units === units);
    if (same !== undefined) {
      const answer = this.#keep(same, terms);
      return answer.kind === "refused"
        ? answer
        : { ...answer, lowSince: this.#prices.put(request, { units, rank, salt }) };
    }
    const isFirst = isSharedHere && rank === UNPROVEN && own.length === 0;
    const refusal = (isFirst ? lifetimeRefusal(request, nowMs) : undefined) ?? terms.refusalOf(units);
    if (refusal !== undefined) return refused(refusal);
    // Otherwise another invoice could take the amount immediately, while the page of this invoice still shows it.
    if (untilMs < nowMs) return refused(NO_LONGER_HELD);
    this.#exec(
      `INSERT INTO amounts (units, rank, invoice_id, merchant_id, is_public, is_counted, held_until_ms, check_after_ms)
      VALUES (?, ?, ?, ?, ?, 1, ?, ?)`,
      [padded(units), rank, invoiceId, merchantId, Number(request.isPublic), untilMs, checkAfterMs(terms)],
    );
    return {
      kind: "given",
      units,
      rank,
      heldUntilMs: untilMs,
      lowSince: this.#prices.put(request, { units, rank, salt }),
    };
  }

  #refuseExhausted(search: string): AmountAnswer {
    if (this.#exhausted.size >= MOST_EXHAUSTED) this.#exhausted.clear();
    this.#exhausted.add(search);
    return refused({ code: "AMOUNTS_EXHAUSTED" });
  }

  /**
   * Gives an invoice an amount that it already has. The hold ends at its stored end or at the requested one, whichever is later, because a repeated
   * operation may create an invoice that expires later. An amount that is no longer counted can be counted again only within the limits.
   */
  #keep(held: Row, terms: Terms): AmountAnswer {
    const { units, rank, lowSince, isCounted } = held;
    const refusal = isCounted ? undefined : terms.refusalOf(units);
    if (refusal !== undefined) return refused(refusal);
    const untilMs = Math.max(held.heldUntilMs, terms.untilMs);
    if (untilMs < terms.nowMs) return refused(NO_LONGER_HELD);
    if (untilMs > held.heldUntilMs || !isCounted) {
      this.#exec(
        "UPDATE amounts SET is_counted = 1, held_until_ms = ?, check_after_ms = ? WHERE units = ? AND rank = ?",
        [untilMs, checkAfterMs({ ...terms, untilMs }), padded(units), rank],
      );
    }
    return { kind: "given", units, rank, heldUntilMs: untilMs, lowSince };
  }

  /** The amounts of an invoice: one row for each price for which an amount was given. All have the same rank. */
  #heldBy(invoiceId: string): readonly Row[] {
    const rows = this.#exec(
      `SELECT held.units, held.rank, held.held_until_ms, held.is_counted, asked.price_units, asked.low_since FROM prices asked
      JOIN amounts held ON held.units = asked.units AND held.rank = asked.rank WHERE asked.invoice_id = ? ORDER BY asked.price_units`,
      [invoiceId],
    );
    return rows.map((row) => ({
      units: unitsIn(row.units),
      priceUnits: unitsIn(row.price_units),
      rank: rankIn(row.rank),
      heldUntilMs: Number(row.held_until_ms),
      isCounted: row.is_counted === 1,
      lowSince: typeof row.low_since === "string" ? row.low_since : null,
    }));
  }

  /**
   * The salt of a free candidate: the guess if it is free, otherwise the first free one; undefined if none is free. Only if there is no free amount
   * may a merchant with proof get one that a merchant without proof holds. A user then decides about a payment of that amount if the merchant without
   * proof asked for it first (payments/match.ts).
   */
  #freeSalt(priceUnits: bigint, asset: AmountGrain, asker: Asker): number | undefined {
    const capacity = saltCapacity(priceUnits, asset);
    const guess = this.#prices.guess(priceUnits, capacity);
    if (guess !== undefined) {
      const [free] = this.#freeOf([saltedUnits(priceUnits, asset, guess)], { ...asker, rank: UNPROVEN });
      if (free !== undefined) return guess;
    }
    for (const rank of asker.rank === UNPROVEN ? [UNPROVEN] : [UNPROVEN, asker.rank]) {
      for (let from = 0, look = 0; from < capacity; look++) {
        const to = Math.min(capacity, from + (LOOKS[look] ?? capacity));
        const [free] = this.#freeOf(candidateUnits(priceUnits, asset, { from, to }), { ...asker, rank });
        if (free !== undefined) return from + free;
        from = to;
      }
    }
    return undefined;
  }

  /**
   * The position of the first free amount, as a list of at most one item. An amount is free if no other invoice of this merchant, of `rank` or of a
   * higher rank holds it. The invoice's own amounts count as free.
   */
  #freeOf(candidates: readonly bigint[], { rank, merchantId, invoiceId }: Asker): readonly number[] {
    // json_each returns the items in the order of the array; each is looked up by the primary key.
    const rows = this.#exec(
      `SELECT candidate.key AS position FROM json_each(?) candidate WHERE NOT EXISTS (SELECT 1 FROM amounts taken
        WHERE taken.units = candidate.value AND (taken.rank <= ? OR taken.merchant_id = ?) AND taken.invoice_id <> ?) LIMIT 1`,
      [JSON.stringify(candidates.map(padded)), rank, merchantId, invoiceId],
    );
    return rows.map(({ position }) => Number(position));
  }

  #holdingRefusal(
    bounds: HoldingBounds,
    of: { readonly asker: Asker } & Pick<Holding, "isShared" | "others">,
  ): AmountRefusal | undefined {
    const { asker, isShared: isSharedHere, others } = of;
    if (!isSharedHere && bounds.maxPublic === null) return undefined;
    const ends = [padded(bounds.fromUnits), padded(bounds.toUnits)];
    const [held] = this.#exec(
      `SELECT count(*) AS everybody, coalesce(sum(merchant_id = ?), 0) AS own FROM amounts INDEXED BY amounts_rank
      WHERE is_counted = 1 AND rank = ? AND units BETWEEN ? AND ?`,
      [asker.merchantId, asker.rank, ...ends],
    );
    const [shown] = this.#exec(
      `SELECT coalesce(sum(invoice_id <> ?), 0) AS of_others, coalesce(sum(rank = ?), 0) AS own FROM amounts INDEXED BY amounts_public
      WHERE is_public = 1 AND is_counted = 1 AND merchant_id = ? AND units BETWEEN ? AND ?`,
      [asker.invoiceId, asker.rank, asker.merchantId, ...ends],
    );
    const counts = { all: Number(held?.everybody), own: Number(held?.own) };
    const publicCounts = { ownPublic: Number(shown?.own), public: Number(shown?.of_others) };
    return holdingRefusal(asker.rank, bounds, { ...counts, ...publicCounts, isShared: isSharedHere, others });
  }

  #exec(query: string, bindings: readonly (string | number)[]): Record<string, string | number | null | ArrayBuffer>[] {
    return this.#storage.sql.exec(query, ...bindings).toArray();
  }
}

function checkAfterMs({ untilMs, nowMs, isLimited }: Omit<Terms, "refusalOf">): number {
  return isLimited ? nowMs + STORED_AFTER_MS : untilMs + CHECK_AFTER_MS;
}

function refused(refusal: AmountRefusal): AmountAnswer {
  return { kind: "refused", refusal };
}
