// The signed text of a return, and the URL that carries the signature. Verifiers depend on the text (client/return.ts, docs/guides/checkout.md), so
// it never changes, and an addition needs a different first line.
import type { InvoiceId } from "../../lib/ids.ts";
import { isoTime } from "../../lib/time.ts";

export interface Return {
  readonly invoiceId: InvoiceId;
  readonly status: "PAID" | "OVERPAID";
  /** The time of signing. */
  readonly nowMs: number;
}

export interface ReturnSignature {
  readonly keyId: string;
  /** base64url without padding. */
  readonly signature: string;
}

/** The first line names the purpose, so that no other signature of ours can be taken for a return. No field can contain a line break. */
export function returnText({ invoiceId, status, nowMs }: Return): string {
  return `edgetill-return-v1\n${invoiceId}\n${status}\n${isoTime(nowMs)}`;
}

const MEMBERS: ReadonlySet<string> = new Set(["invoiceId", "status", "timestamp", "keyId", "signature"]);

/**
 * The shop's URL with our parameters added and its own query and fragment unchanged, except that parameters with one of our names are replaced.
 * `{InvoiceId}` in the URL, which shop plugins of BTCPay Server write, becomes the invoice's id. Without a signature only the invoice's id is added,
 * because shops would believe a status that they cannot verify.
 */
export function returnUrl(redirectUrl: string, of: Return, signed: ReturnSignature | undefined): string {
  const url = new URL(redirectUrl.replaceAll("{InvoiceId}", of.invoiceId));
  const own = url.search.slice(1).split("&");
  const kept = own.filter((member) => member !== "" && !nameIsOurs(member));
  const { invoiceId, status, nowMs } = of;
  const ours = signed === undefined ? { invoiceId } : { invoiceId, status, timestamp: isoTime(nowMs), ...signed };
  // The setter, like the parser below, removes one leading question mark.
  url.search = `?${[...kept, new URLSearchParams(ours)].join("&")}`;
  return url.href;
}

/** Decodes the parameter's name as a receiver would, and compares it with our names. */
function nameIsOurs(member: string): boolean {
  return [...new URLSearchParams(`?${member}`).keys()].some((name) => MEMBERS.has(name));
}
