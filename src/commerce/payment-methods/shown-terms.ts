// What an allocator keeps with an address or an amount that it gives: enough to recover the invoice if the database loses it (commerce/restores). The customer
// is kept only as an id: their data may be erased, and the allocator would not know.
import type { WalletId } from "../../lib/ids.ts";
import { parseJson } from "../../lib/typed-json.ts";
import type { Invoice } from "../invoice-records/invoice.ts";
import type { MethodQuote } from "./payment-method.ts";

export interface ShownTerms {
  /** Its state when the place was shown. */
  readonly invoice: Invoice;
  readonly walletId: WalletId;
  /** The quote shown to the payer; null for the rest of a partial payment. */
  readonly quote: MethodQuote | null;
  readonly shownAtMs: number;
}

/** Members that are numbers of any size; JSON holds them as text. */
const BIG = [
  "amountMicros",
  "receivedMicros",
  "confirmedMicros",
  "underpaidToleranceMicros",
  "overpaidToleranceMicros",
  "amountUnits",
] as const;

/** Written into every release's storage: members may be added, but none may change its meaning. */
const VERSION = 1;

export function printTerms(terms: ShownTerms): string {
  const text = (_: string, value: unknown) => (typeof value === "bigint" ? value.toString() : value);
  return JSON.stringify({ version: VERSION, ...terms }, text);
}

/** Undefined for a string of another form. */
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
