// The signed text of a return, and the address that carries it. Verifiers depend on the text (client/return.ts, README): it never changes,
// and additions need another first line.
import type { InvoiceId } from "../../lib/ids.ts";
import { isoTime } from "../../lib/time.ts";

export interface Return {
  readonly invoiceId: InvoiceId;
  readonly status: "PAID" | "OVERPAID";
  /** The moment of signing. */
  readonly nowMs: number;
}

export interface ReturnSignature {
  readonly keyId: string;
  /** base64url without padding. */
  readonly signature: string;
}

/** The first line says what it is for, so that no signature of ours over something else passes for a return. No field can hold a line break. */
export function returnText({ invoiceId, status, nowMs }: Return): string {
  return `edgetill-return-v1\n${invoiceId}\n${status}\n${isoTime(nowMs)}`;
}

const MEMBERS: ReadonlySet<string> = new Set(["invoiceId", "status", "timestamp", "keyId", "signature"]);

/**
 * The shop's address with our members set, its own query and fragment as they were; a member of its own with one of our names is replaced. Without
 * a signature only the invoice is named: a status that nobody can check would be believed all the same.
 */
export function returnUrl(redirectUrl: string, of: Return, signed: ReturnSignature | undefined): string {
  const url = new URL(redirectUrl);
  const own = url.search.slice(1).split("&");
  const kept = own.filter((member) => member !== "" && !nameIsOurs(member));
  const { invoiceId, status, nowMs } = of;
  const ours = signed === undefined ? { invoiceId } : { invoiceId, status, timestamp: isoTime(nowMs), ...signed };
  // The setter, as the parser below, takes off one leading question mark.
  url.search = `?${[...kept, new URLSearchParams(ours)].join("&")}`;
  return url.href;
}

/** By the name as a receiver decodes it. */
function nameIsOurs(member: string): boolean {
  return [...new URLSearchParams(`?${member}`).keys()].some((name) => MEMBERS.has(name));
}
