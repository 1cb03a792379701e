// What a story is, and whether it ended as it is told. No I/O here.
import type { Invoice, Pair, Payment } from "./shop.ts";

/** What the customers of the stories do, and what they wait for. */
export interface Stage {
  /** Sends coins for this story's invoice as its payment method says, or a share of them in percent; gives the transaction. */
  pay(percent?: number): Promise<string>;
  /** Sends exactly what is still due. */
  payRest(): Promise<string>;
  /** Waits until the invoice, as the API gives it, is so. */
  until(isIt: (invoice: Invoice) => boolean): Promise<void>;
  /** Waits until the others have no payment under way, and keeps them from sending one: blocks will be taken back. */
  beginDisturbing(): Promise<void>;
  /** The chain takes back the block of this transaction and all after it, and the transaction is forgotten. */
  takeBack(txHash: string): Promise<{
    /** The customer's wallet sends the same transaction again; once it is seen, the others may go on. */
    sendAgain(): Promise<void>;
  }>;
  /** What the view shows of this moment. */
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
  /** How many payments are credited to it. */
  readonly payments: number;
  /** Received in percent of what was asked; rounded down. */
  readonly receivedPercent: number;
  readonly isLate?: boolean;
}

export function pathOf(invoice: Invoice): readonly string[] {
  return invoice.invoiceTimeline.map((item) => item.paymentStatus);
}

/** Whether the invoice is where its story ends. */
export function isAtEnd(ending: Ending, invoice: Invoice): boolean {
  return differences(ending, invoice).length === 0;
}

/** What is not as the ending tells; empty when all is. */
export function differences(ending: Ending, invoice: Invoice): readonly string[] {
  const { path, payments, receivedPercent, isLate = false } = ending;
  const facts: readonly (readonly [string, unknown, unknown])[] = [
    ["status", path.join(" > "), pathOf(invoice).join(" > ")],
    ["payments", payments, invoice.payments.filter(isCredited).length],
    ["received", `${receivedPercent} %`, `${percentReceived(invoice)} %`],
    ["late", isLate, invoice.isLate],
    ["now", path.at(-1), invoice.status],
  ];
  return facts.filter(([, told, is]) => told !== is).map(([name, told, is]) => `${name}: told ${told}, is ${is}`);
}

function isCredited({ status }: Payment): boolean {
  return status === "DETECTED" || status === "CONFIRMED";
}

/** Of what was asked, rounded down; from the decimal texts, in micro-units. */
export function percentReceived(invoice: Pick<Invoice, "amountReceived" | "rawAmount">): number {
  const micros = (amount: string) => BigInt(amount.replace(".", ""));
  return Number((micros(invoice.amountReceived) * 100n) / micros(invoice.rawAmount));
}
