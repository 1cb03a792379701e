// Amounts that a test or a request names, as the whole numbers of the service.
import { microsFromJsonNumber, parseUnits } from "../../src/lib/money.ts";

/** A JSON number that a schema let pass, as micro-units. */
export function microsOf(value: number): bigint {
  const micros = microsFromJsonNumber(value);
  if (!micros.ok) throw new TypeError(`not an amount: ${value}`);
  return micros.value;
}

/** Whole coins as base units; throws for more digits than the coin has. */
export function unitsOf(coins: string, decimals: number): bigint {
  const units = parseUnits(coins, decimals);
  if (!units.ok) throw new TypeError(`${coins} is no amount of a coin with ${decimals} fraction digits`);
  return units.value;
}
