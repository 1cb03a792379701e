// What an allocator keeps with an address or amount: enough to recover the invoice if the database loses it (commerce/restores). Of the customer only
// the id is kept, because their data may be erased without the allocator being notified.
import type { WalletId } from "../../lib/ids.ts";
import { parseJson } from "../../lib/typed-json.ts";
import { TYPED_NAMES } from "../customers/customer.ts";
import { type Invoice, isPublicOrigin } from "../invoice-records/invoice.ts";
import type { MethodQuote } from "./payment-method.ts";

export interface ShownTerms {
  /** The invoice as it was when the address or amount was shown. */
  readonly invoice: Invoice;
  readonly walletId: WalletId;
  /** The quote shown to the payer; null for the rest of a partial payment. */
  readonly quote: MethodQuote | null;
  readonly shownAtMs: number;
}

/** The bigint members, which JSON holds as strings. */
const BIG = [
  "amountMicros",
  "receivedMicros",
  "confirmedMicros",
  "underpaidToleranceMicros",
  "overpaidToleranceMicros",
  "amountUnits",
] as const;

/** Terms stored by any release must stay readable: members may be added, but none may change its meaning. */
const VERSION = 1;

export function printTerms({ invoice, ...terms }: ShownTerms): string {
  const text = (_: string, value: unknown) => (typeof value === "bigint" ? value.toString() : value);
  return JSON.stringify({ version: VERSION, ...terms, invoice: withoutTyped(invoice) }, text);
}

/** The invoice without what a buyer typed on a product page, which is personal data. */
function withoutTyped(invoice: Invoice): Invoice {
  if (!isPublicOrigin(invoice.origin) || invoice.metadata === null) return invoice;
  const members = Object.entries(parseJson<Record<string, unknown>>(invoice.metadata));
  const kept = members.filter(([name]) => !TYPED_NAMES.some((typed) => typed === name));
  if (kept.length === members.length) return invoice;
  return { ...invoice, metadata: kept.length === 0 ? null : JSON.stringify(Object.fromEntries(kept)) };
}

/** Undefined for a string in a different format. */
export function parseTerms(text: string | null): ShownTerms | undefined {
  if (text === null) return undefined;
  const big = (name: string, value: unknown) =>
    typeof value === "string" && BIG.some((each) => each === name) ? BigInt(value) : value;
  const parsed = parseJson<unknown>(text);
  if (typeof parsed !== "object" || parsed === null || !("version" in parsed) || parsed.version !== VERSION)
    return undefined;
  const terms: ShownTerms = JSON.parse(text, big);
  return terms;
}
