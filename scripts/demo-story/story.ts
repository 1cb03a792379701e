// The definition of a story, and whether it ended as expected. No I/O here.
import type { Invoice, Pair, Payment } from "./shop.ts";

/** What a story's customer can do. */
export interface Stage {
  /** Sends the coins that this story's invoice asks for, or a percentage of them; returns the transaction hash. */
  pay(percent?: number): Promise<string>;
  /** Sends exactly what is still due. */
  payRest(): Promise<string>;
  /** Waits until the invoice, as read from the API, meets the condition. */
  until(isIt: (invoice: Invoice) => boolean): Promise<void>;
  /** Waits until no other story has a payment in progress, and prevents new ones, because blocks will be reverted. */
  beginDisturbing(): Promise<void>;
  /** Reverts the block of this transaction and all after it; the transaction is forgotten. */
  takeBack(txHash: string): Promise<{
    /** The customer's wallet sends the same transaction again; once it is seen, the other stories continue. */
    sendAgain(): Promise<void>;
  }>;
  /** Sets the note that the view shows. */
  note(text: string): void;
}

export interface Story {
  readonly title: string;
  readonly pair: Pair;
  readonly usd: number;
  readonly expiresInSeconds?: number;
  readonly ending: Ending;
  play(stage: Stage): Promise<void>;
}

export interface Ending {
  /** Every status that the invoice goes through, in order. */
  readonly path: readonly Invoice["invoiceTimeline"][number]["paymentStatus"][];
  /** How many payments are credited to the invoice. */
  readonly payments: number;
  /** Received amount in percent of the amount due, rounded down. */
  readonly receivedPercent: number;
  readonly isLate?: boolean;
}

export function pathOf(invoice: Invoice): readonly string[] {
  return invoice.invoiceTimeline.map((item) => item.paymentStatus);
}

/** Whether the invoice has reached the state in which its story ends. */
export function isAtEnd(ending: Ending, invoice: Invoice): boolean {
  return differences(ending, invoice).length === 0;
}

/** Differences from the ending; empty if there are none. */
export function differences(ending: Ending, invoice: Invoice): readonly string[] {
  const { path, payments, receivedPercent, isLate = false } = ending;
  const facts: readonly (readonly [string, unknown, unknown])[] = [
    ["status", path.join(" > "), pathOf(invoice).join(" > ")],
    ["payments", payments, invoice.payments.filter(isCredited).length],
    ["received", `${receivedPercent} %`, `${percentReceived(invoice)} %`],
    ["late", isLate, invoice.isLate],
    ["now", path.at(-1), invoice.status],
  ];
  return facts
    .filter(([, expected, actual]) => expected !== actual)
    .map(([name, expected, actual]) => `${name}: expected ${expected}, is ${actual}`);
}

function isCredited({ status }: Payment): boolean {
  return status === "DETECTED" || status === "CONFIRMED";
}

/** The received percentage of the amount due, rounded down; computed from the decimal texts in micro-units. */
export function percentReceived(invoice: Pick<Invoice, "amountReceived" | "rawAmount">): number {
  const micros = (amount: string) => BigInt(amount.replace(".", ""));
  return Number((micros(invoice.amountReceived) * 100n) / micros(invoice.rawAmount));
}
