// What a history is made of: the facts that decide which invoice gets a transfer, what it is worth and how an invoice ends (decisions 4 "As of
// the payment's time" and 5 "Direct match"). When the chain is read is up to a schedule (`as-of-schedule.ts`).
import type { InvoiceId } from "../../../src/lib/ids.ts";

/** This amount was shown at this time: when the method was opened, or when it was read after its lock. */
export interface Asked {
  readonly atMs: number;
  readonly units: bigint;
  /** Price of one whole coin in the invoice currency, decimal text. */
  readonly rate: string;
  /** What the units represent: E, or E - R for a rest. */
  readonly forMicros: bigint;
}

export interface InvoiceFact {
  readonly id: InvoiceId;
  /** The merchant's number. */
  readonly merchant: 0 | 1;
  /** The merchant's rank at the shared address when it was opened: 2 with proof, 3 without. */
  readonly rank: 2 | 3;
  readonly address: string;
  readonly expectedMicros: bigint;
  readonly underpaidToleranceMicros: bigint;
  readonly overpaidToleranceMicros: bigint;
  readonly latePaymentPolicy: "REVIEW" | "ACCEPT";
  /** When it was created, activated and first asked for. */
  readonly openedMs: number;
  readonly expiresAtMs: number;
  readonly monitorSeconds: number;
  readonly lockSeconds: number;
  readonly cancelledAtMs: number | null;
  /** In order of time; the first at `openedMs`. */
  readonly asked: readonly Asked[];
}

/** A block that held a transfer. */
export interface BlockFact {
  readonly height: number;
  readonly hash: string;
  /** The time its miner wrote into it, as wrong as consensus allows. */
  readonly timeMs: number;
  /** When it could first be read. A block ahead of its time is read at this moment in every schedule: that it was seen then is a fact. */
  readonly visibleMs: number;
  /** When it left the chain; null while it is on the chain. */
  readonly goneMs: number | null;
}

/** Whether its miner's clock was so fast that the block existed before its own time. */
export function isAhead({ timeMs, visibleMs }: BlockFact): boolean {
  return timeMs > visibleMs;
}

export interface TransferFact {
  readonly txHash: string;
  readonly address: string;
  readonly units: bigint;
  /** The address pays itself: the merchant's change, or a transfer between their own accounts. */
  readonly isOwnMoney: boolean;
  /** When first seen in a mempool; null if never. */
  readonly pendingMs: number | null;
  /** At most two: one orphaned, and one on the chain. */
  readonly blocks: readonly BlockFact[];
  /**
   * The market's price of one coin when the service first saw the transfer, whenever that was; null if no rate was fresh then or within the next
   * hour.
   */
  readonly sightRate: string | null;
  /** In every schedule it is first read at or after this time: an invoice that it pays was cancelled then, with no payment seen. */
  readonly readFromMs: number;
  /** In every schedule it is first read by this time: the rest that it leaves was asked for at that time. */
  readonly readByMs: number | null;
}

export interface History {
  readonly seed: number;
  /** `own`: BTC, one address per invoice. `shared`: ETH, one address for all invoices of two merchants. */
  readonly kind: "own" | "shared";
  readonly invoices: readonly InvoiceFact[];
  readonly transfers: readonly TransferFact[];
  /**
   * Whether quotes come from a reader who opens the page after a lock, priced by the service itself, or are written into storage. If read, what
   * is asked depends on what was read of the chain by then, so the read is at the same time in every schedule.
   */
  readonly isAskedByReaders: boolean;
  /** The end: each invoice is past its monitoring, and what was orphaned is past the reorg window. */
  readonly endMs: number;
}

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export const START_MS = 1_800_000_000_000;
export const SHARED_ADDRESS = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";

/** Facts of the two chains, written down here so the oracle shares nothing with the service. */
export const CHAINS = {
  own: { pair: { cryptocurrency: "BTC", network: "BTC" }, decimals: 8, grainUnits: 1n, blockMs: 600 * SECOND },
  shared: {
    pair: { cryptocurrency: "ETH", network: "ETH" },
    decimals: 18,
    grainUnits: 10_000_000_000n,
    blockMs: 12 * SECOND,
  },
} as const;

/** How long before it was asked and after it ended a payment may still mean a quote. */
export function quoteSlackMs(kind: History["kind"]): number {
  return Math.max(120 * SECOND, 2 * CHAINS[kind].blockMs);
}

/** How long before an invoice's activation a block may contain its payment: a block's time may be older than the block. */
export function watchSlackMs(kind: History["kind"]): number {
  return Math.max(30 * SECOND, 2 * CHAINS[kind].blockMs);
}

export function monitorUntilMs({ expiresAtMs, cancelledAtMs, monitorSeconds }: InvoiceFact): number {
  return Math.min(expiresAtMs, cancelledAtMs ?? expiresAtMs) + monitorSeconds * SECOND;
}

/**
 * Until when its amounts are reserved: without proof, if two merchants share the address, for a day, and never less than it is open.
 */
export function heldUntilMs(invoice: InvoiceFact): number {
  const monitored = monitorUntilMs(invoice);
  if (invoice.rank === 2) return monitored;
  return Math.min(monitored, Math.max(invoice.expiresAtMs, invoice.openedMs + DAY));
}

/** A history in readable form: times in seconds since it began. */
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
 * Whether an invoice requotes about what the service may have reserved as the rest of another: reserved amounts stay with their invoice, so it
 * would be asked for something else.
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
 * Whether a transfer is about what would remain of an invoice after other transfers paid part of it. Whether that rest was ever asked for
 * depends on what was read by then, which is not a fact of a history; where it was, the transfer has exactly its amount and is valued by its own
 * quote.
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
