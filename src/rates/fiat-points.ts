// Reads the rates of fiat currencies from the response of a source.
import { type Outage, outage } from "../lib/fetch-text.ts";
import { err, ok, type Result } from "../lib/result.ts";
import { positiveDecimal } from "./decimal-text.ts";
import type { FiatPoint } from "./quote.ts";

/**
 * The points of those `codes` that the answer has, as of the start (UTC) of `date`; an outage if there is none. `keyOf`: a code in the source's
 * spelling.
 */
export function fiatPoints(
  source: string,
  codes: readonly string[],
  { date, rates }: { readonly date: string; readonly rates: Readonly<Record<string, string>> },
  keyOf = (code: string) => code,
): Result<readonly FiatPoint[], Outage> {
  const dateMs = Date.parse(`${date}T00:00:00Z`);
  const points = codes.flatMap((code): FiatPoint[] => {
    const key = keyOf(code);
    const perUsd = Object.hasOwn(rates, key) ? positiveDecimal(rates[key] ?? "") : undefined;
    return perUsd === undefined ? [] : [{ source, code, perUsd, dateMs }];
  });
  return points.length > 0 ? ok(points) : err(outage("UNEXPECTED_SHAPE", "none of the requested rates"));
}
