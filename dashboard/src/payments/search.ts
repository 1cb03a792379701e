// What the address of the list carries: its filters and the page, so that a link shows the same rows.
import { PAYMENT_STATES, type PaymentStatus } from "./status.tsx";

export interface PaymentsSearch {
  /** Those that wait for a decision unless given. */
  readonly status?: PaymentStatus | "ALL";
  readonly network?: string;
  readonly txHash?: string;
  /** The `nextCursor` of the page before. */
  readonly cursor?: string;
}

/** Ignores what the list does not know. The router reads a search of digits as a number, so it becomes text again. */
export function paymentsSearch(given: Readonly<Record<string, unknown>>): PaymentsSearch {
  const { status, network, txHash, cursor } = given;
  return {
    ...(isStatus(status) ? { status } : {}),
    ...(isText(network) ? { network: String(network) } : {}),
    ...(isText(txHash) ? { txHash: String(txHash) } : {}),
    ...(isText(cursor) ? { cursor: String(cursor) } : {}),
  };
}

function isStatus(value: unknown): value is PaymentStatus | "ALL" {
  return value === "ALL" || (typeof value === "string" && Object.hasOwn(PAYMENT_STATES, value));
}

function isText(value: unknown): value is string | number {
  return typeof value === "number" || (typeof value === "string" && value !== "");
}
