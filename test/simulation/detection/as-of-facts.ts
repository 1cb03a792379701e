// What a history is made of: the facts that decide which invoice has a transfer, what it is worth and how an invoice ends (decisions 4 "As of the
// payment's time" and 5 "Direct match"). Nothing here says when anybody read the chain: that is a schedule's (`as-of-schedule.ts`).
import type { InvoiceId } from "../../../src/lib/ids.ts";

/** This amount was shown at this moment: when the method was opened, or when it was read after its lock. */
export interface Asked {
  readonly atMs: number;
  readonly units: bigint;
  /** Price of one whole coin in the invoice currency, decimal text. */
  readonly rate: string;
  /** What the units stand for: E, or E - R for a rest. */
  readonly forMicros: bigint;
}

export interface InvoiceFact {
  readonly id: InvoiceId;
  /** The merchant's number. */
  readonly merchant: 0 | 1;
  /** The merchant's at the shared address when it was opened: 2 with proof, 3 without. */
  readonly rank: 2 | 3;
  readonly address: string;
  readonly expectedMicros: bigint;
  readonly underpaidToleranceMicros: bigint;
  readonly overpaidToleranceMicros: bigint;
  readonly latePaymentPolicy: "REVIEW" | "ACCEPT";
  /** Created, activated and asked for the first time. */
  readonly openedMs: number;
  readonly expiresAtMs: number;
  readonly monitorSeconds: number;
  readonly lockSeconds: number;
  readonly cancelledAtMs: number | null;
  /** In the order of their times; the first at `openedMs`. */
  readonly asked: readonly Asked[];
}

/** A block that held a transfer. */
export interface BlockFact {
  readonly height: number;
  readonly hash: string;
  /** What its miner wrote into it: as far from the truth as consensus allows. */
  readonly timeMs: number;
  /** When there was something to read. A block that is ahead of this is read at this moment in every schedule: that it was seen then is a fact. */
  readonly visibleMs: number;
  /** When it left the chain; null while it is on the chain. */
  readonly goneMs: number | null;
}

/** Whether its miner's clock was so fast that the block was there before its own time. */
export function isAhead({ timeMs, visibleMs }: BlockFact): boolean {
  return timeMs > visibleMs;
}

export interface TransferFact {
  readonly txHash: string;
  readonly address: string;
  readonly units: bigint;
  /** The address pays itself: the merchant's change, or a transfer between their own accounts. */
  readonly isOwnMoney: boolean;
  /** First sight in a mempool; null where it was never seen in one. */
  readonly pendingMs: number | null;
  /** At most two: one that was orphaned, and one that is on the chain. */
  readonly blocks: readonly BlockFact[];
  /** The market's price of one coin when the service first saw the transfer, whenever that was; null where no rate was fresh then and for an hour. */
  readonly sightRate: string | null;
  /** In every schedule it is first read at or after this moment: an invoice that it pays was cancelled then, and had seen no money. */
  readonly readFromMs: number;
  /** In every schedule it is first read by this moment: the rest that it leaves was asked then. */
  readonly readByMs: number | null;
}

export interface History {
  readonly seed: number;
  /** `own`: BTC, an address for each invoice. `shared`: ETH, one address for all invoices of two merchants. */
  readonly kind: "own" | "shared";
  readonly invoices: readonly InvoiceFact[];
  readonly transfers: readonly TransferFact[];
  /**
   * Whether quotes come of somebody's look at the page when a lock is over, priced by the service itself, or are written into storage. By a look,
   * what is asked depends on what was read of the chain by then, so that is the same in every schedule.
   */
  readonly isAskedByReaders: boolean;
  /** All is over: each invoice is past its monitoring, and what was orphaned is past the reorg window. */
  readonly endMs: number;
}

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export const START_MS = 1_800_000_000_000;
export const SHARED_ADDRESS = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";

/** Facts of the two chains, written down here so that the oracle shares nothing with the service. */
export const CHAINS = {
  own: { pair: { cryptocurrency: "BTC", network: "BTC" }, decimals: 8, grainUnits: 1n, blockMs: 600 * SECOND },
  shared: {
    pair: { cryptocurrency: "ETH", network: "ETH" },
    decimals: 18,
    grainUnits: 10_000_000_000n,
    blockMs: 12 * SECOND,
  },
} as const;

/** How far before it was asked and after it ended a quote may still be meant. */
export function quoteSlackMs(kind: History["kind"]): number {
  return Math.max(120 * SECOND, 2 * CHAINS[kind].blockMs);
}

/** How far before its activation a block may hold what an invoice asked for: a block's time may be older than the block. */
export function watchSlackMs(kind: History["kind"]): number {
  return Math.max(30 * SECOND, 2 * CHAINS[kind].blockMs);
}

export function monitorUntilMs({ expiresAtMs, cancelledAtMs, monitorSeconds }: InvoiceFact): number {
  return Math.min(expiresAtMs, cancelledAtMs ?? expiresAtMs) + monitorSeconds * SECOND;
}

/** Until when its amounts are held: without proof, where two merchants are at an address, for a day, and never less than it is open. */
export function heldUntilMs(invoice: InvoiceFact): number {
  const monitored = monitorUntilMs(invoice);
  if (invoice.rank === 2) return monitored;
  return Math.min(monitored, Math.max(invoice.expiresAtMs, invoice.openedMs + DAY));
}

/** A history as a person reads it: times in seconds since it began. */
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
 * Whether an invoice asks anew for about what the service may have reserved as the rest of another: it leaves everybody what they hold, so it would
 * ask for something else.
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
 * Whether a transfer is about what would be left of an invoice once other transfers have paid a part of it. Whether that rest was ever asked for
 * depends on what was read by then, which is no fact of a history; where it was, it is meant exactly, and weighed by a quote of its own.
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
