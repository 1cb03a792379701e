// The message that names the selected invoices that could not be cancelled.
import { plainText } from "../../../src/lib/plain-text.ts";
import { withRequestId } from "../api/errors.ts";

export interface Refusal {
  readonly name: string;
  readonly error: Error;
}

/** More names could not be read before the notice disappears. */
const NAMED = 3;

/** `“Order 1” was not cancelled: …`; undefined if nothing was refused. */
export function refusalsText(refusals: readonly Refusal[]): string | undefined {
  if (refusals.length === 0) return undefined;
  const named = refusals.slice(0, NAMED).map(({ name, error }) => {
    return `“${plainText(name)}” was not cancelled: ${withRequestId(error)}`;
  });
  const more = refusals.length - named.length;
  return [...named, ...(more === 0 ? [] : [`${more} more ${more === 1 ? "was" : "were"} not cancelled.`])].join(" ");
}
