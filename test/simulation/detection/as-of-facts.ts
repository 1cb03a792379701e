// The facts of a history. They decide which invoice gets a transfer, what it is worth and how an invoice ends (decisions 4 "As of the payment's time"
// and 5 "Direct match"). The schedule decides when the chain is read (`as-of-schedule.ts`).
import type { InvoiceId } from "../../../src/lib/ids.ts";

/** An amount that is shown from `atMs` on: from when the method was opened, or when the page was read after the previous lock. */
export interface Asked {
  readonly atMs: number;
  readonly units: bigint;
  /** Price of one whole coin in the invoice currency, decimal text. */
  readonly rate: string;
  /** The value that the units represent: the price E, or E - R if R was already paid. */
  readonly forMicros: bigint;
}

export interface InvoiceFact {
  readonly id: InvoiceId;
  /** Which of the two merchants owns the invoice. */
  readonly merchant: 0 | 1;
  /** The merchant's rank at the shared address when the invoice was opened: 2 with proof, 3 without. */
  readonly rank: 2 | 3;
  readonly address: string;
  readonly expectedMicros: bigint;
  readonly underpaidToleranceMicros: bigint;
  readonly overpaidToleranceMicros: bigint;
  readonly latePaymentPolicy: "REVIEW" | "ACCEPT";
  /** When the invoice was created and activated and its first amount was requested. */
  readonly openedMs: number;
  readonly expiresAtMs: number;
  readonly monitorSeconds: number;
  readonly lockSeconds: number;
  readonly cancelledAtMs: number | null;
  /** Oldest first; the first one is at `openedMs`. */
  readonly asked: readonly Asked[];
}

/** A block that held a transfer. */
export interface BlockFact {
  readonly height: number;
  readonly hash: string;
  /** The timestamp in the block's header, with any error that consensus allows its miner. */
  readonly timeMs: number;
  /**
   * When the block could first be read. A block with a timestamp in the future is read at this moment in every schedule, because the result depends
   * on when it was first seen.
   */
  readonly visibleMs: number;
  /** When the block left the chain; null while it is on the chain. */
  readonly goneMs: number | null;
}

/** Whether the miner's clock was so fast that the block existed before its own timestamp. */
export function isAhead({ timeMs, visibleMs }: BlockFact): boolean {
  return timeMs > visibleMs;
}

export interface TransferFact {
  readonly txHash: string;
  readonly address: string;
  readonly units: bigint;
  /** Whether the address pays itself: the merchant's change, or a transfer between their own accounts. */
  readonly isOwnMoney: boolean;
  /** When the transfer was first seen in a mempool; null if never. */
  readonly pendingMs: number | null;
  /** At most two blocks: one orphaned, and one on the chain. */
  readonly blocks: readonly BlockFact[];
  /**
   * The market's price of one coin when the service first saw the transfer, whenever that was; null if no rate was fresh then or within the next
   * hour.
   */
  readonly sightRate: string | null;
  /**
   * Every schedule first reads the transfer at or after this time, because an invoice that it pays was cancelled then, before any payment was seen.
   */
  readonly readFromMs: number;
  /** Every schedule has read the transfer by this time, because the amount that remains after it was requested then. */
  readonly readByMs: number | null;
}

export interface History {
  readonly seed: number;
  /** `own`: BTC, one address per invoice. `shared`: ETH, one address for all invoices of two merchants. */
  readonly kind: "own" | "shared";
  readonly invoices: readonly InvoiceFact[];
  readonly transfers: readonly TransferFact[];
  /**
   * Whether a reader opens the page after each lock, so that the service itself prices the quotes. Otherwise quotes are written into storage. The
   * amount that a reader is shown depends on how far the chain has been read, so these reads happen at the same time in every schedule.
   */
  readonly isAskedByReaders: boolean;
  /** The end of the history: monitoring of each invoice is over, and orphaned blocks are older than the reorg window. */
  readonly endMs: number;
}

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export const START_MS = 1_800_000_000_000;
export const SHARED_ADDRESS = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";

/** Facts about the two chains, repeated here so that the oracle shares nothing with the service. */
export const CHAINS = {
  own: { pair: { cryptocurrency: "BTC", network: "BTC" }, decimals: 8, grainUnits: 1n, blockMs: 600 * SECOND },
  shared: {
    pair: { cryptocurrency: "ETH", network: "ETH" },
    decimals: 18,
    grainUnits: 10_000_000_000n,
    blockMs: 12 * SECOND,
  },
} as const;

/** How long before a quote was requested, and after it ended, a payment may still be meant for it. */
export function quoteSlackMs(kind: History["kind"]): number {
  return Math.max(120 * SECOND, 2 * CHAINS[kind].blockMs);
}

/** How long before an invoice's activation the block of its payment may be dated, because a block may be made later than its timestamp. */
export function watchSlackMs(kind: History["kind"]): number {
  return Math.max(30 * SECOND, 2 * CHAINS[kind].blockMs);
}

export function monitorUntilMs({ expiresAtMs, cancelledAtMs, monitorSeconds }: InvoiceFact): number {
  return Math.min(expiresAtMs, cancelledAtMs ?? expiresAtMs) + monitorSeconds * SECOND;
}

/**
 * When the invoice's amounts are no longer reserved: when monitoring ends, or without proof after a day at the latest, but not before the expiry.
 */
export function heldUntilMs(invoice: InvoiceFact): number {
  const monitored = monitorUntilMs(invoice);
  if (invoice.rank === 2) return monitored;
  return Math.min(monitored, Math.max(invoice.expiresAtMs, invoice.openedMs + DAY));
}

/** A history as readable text, with times in seconds since its start. */
export function printHistory(history: History): string {
  const at = (ms: number | null) => (ms === null ? "never" : `+${(ms - START_MS) / SECOND}s`);
  const invoices = history.invoices.map((of) =>
    [
      `invoice ${of.id.slice(-2)} of merchant ${of.merchant}, rank ${of.rank}: E ${of.expectedMicros}, tol ${of.underpaidToleranceMicros}, over ${of.overpaidToleranceMicros}, ${of.latePaymentPolicy}`,
      `  opened ${at(of.openedMs)}, expires ${at(of.expiresAtMs)}, cancelled ${at(of.cancelledAtMs)}, monitored until ${at(monitorUntilMs(of))}, lock ${of.lockSeconds}s`,
      ...of.asked.map((each) => `  asked ${at(each.atMs)}: ${each.units} for ${each.forMicros} at ${each.rate}`),
    ].join("\n"),
  );
  const transfers = history.transfers.map((of) =>
    [
      `transfer ${of.txHash}: ${of.units} ${of.isOwnMoney ? "of itself " : ""}to ${of.address.slice(-4)}, in a mempool ${at(of.pendingMs)}, market ${of.sightRate}, read from ${at(of.readFromMs)} by ${at(of.readByMs)}`,
      ...of.blocks.map(
        (block) =>
          `  block ${block.hash} of ${at(block.timeMs)}, visible ${at(block.visibleMs)}, gone ${at(block.goneMs)}`,
      ),
    ].join("\n"),
  );
  const by = history.isAskedByReaders ? "asked by readers" : "quotes written";
  return [
    `history ${history.seed} (${history.kind}, ${by}), ends ${at(history.endMs)}`,
    ...invoices,
    ...transfers,
  ].join("\n");
}

/**
 * Whether an invoice requotes an amount close to one that the service may have reserved for the rest of another invoice. Reserved amounts stay with
 * their invoice, so the service would ask for a different amount.
 */
export function mayMeetRest({ kind, invoices, transfers }: History): boolean {
  const nearUnits = 2n * CHAINS[kind].grainUnits;
  const rests = invoices.flatMap(({ id, asked }) =>
    asked.flatMap(({ units }) => transfers.map((transfer) => ({ id, units: units - transfer.units }))),
  );
  const isNear = (a: bigint, b: bigint) => a - b <= nearUnits && b - a <= nearUnits;
  return invoices.some(({ id, asked }) =>
    asked.slice(1).some(({ units }) => rests.some((rest) => rest.id !== id && isNear(rest.units, units))),
  );
}

/**
 * Whether a transfer is close to the remaining amount of an invoice after other transfers paid part of it. Whether that amount was ever requested
 * depends on what had been read by then, which is not a fact of a history. If it was requested, a transfer of exactly that amount is valued by its
 * own quote.
 */
export function isUnaskedRest({ kind, transfers }: History, invoice: InvoiceFact, transfer: TransferFact): boolean {
  const isAsked = invoice.asked.some(({ units }) => units === transfer.units);
  if (transfer.address !== SHARED_ADDRESS || isAsked) return false;
  const nearUnits = 2n * CHAINS[kind].grainUnits;
  const others = transfers.filter((each) => each !== transfer && each.address === transfer.address);
  const sums: bigint[] = [];
  for (const { units } of others) sums.push(units, ...sums.map((sum) => sum + units));
  return sums.some((paid) =>
    invoice.asked.some(({ units: paidOf }) =>
      invoice.asked.some(({ units: now }) => {
        const apart = (now * (paidOf - paid)) / paidOf - transfer.units;
        return apart <= nearUnits && -apart <= nearUnits;
      }),
    ),
  );
}
