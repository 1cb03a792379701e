// What the address of the list carries: its filters and the page, so that a link shows the same rows.
import { INVOICE_STATES, type InvoiceStatus } from "./status.tsx";

export interface InvoicesSearch {
  readonly status?: InvoiceStatus;
  /** Only those that a person must decide about. */
  readonly needsReview?: true;
  readonly search?: string;
  readonly customerId?: string;
  /** The `nextCursor` of the page before. */
  readonly cursor?: string;
}

/** Ignores what the list does not know. The router reads a search of digits as a number, so it becomes text again. */
export function invoicesSearch(given: Readonly<Record<string, unknown>>): InvoicesSearch {
  const { status, needsReview, search, customerId, cursor } = given;
  return {
    ...(isStatus(status) ? { status } : {}),
    ...(needsReview === true ? { needsReview } : {}),
    ...(isText(search) ? { search: String(search) } : {}),
    ...(isText(customerId) ? { customerId: String(customerId) } : {}),
    ...(isText(cursor) ? { cursor: String(cursor) } : {}),
  };
}

function isStatus(value: unknown): value is InvoiceStatus {
  return typeof value === "string" && Object.hasOwn(INVOICE_STATES, value);
}

function isText(value: unknown): value is string | number {
  return typeof value === "number" || (typeof value === "string" && value !== "");
}
