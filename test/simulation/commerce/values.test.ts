// Invoices of any value, paid in parts under any number of quotes. All parts together must be worth the whole, however their quotes round. A missing
// part must be detected, within a micro-unit for each quote after the first.
import { expect, it } from "vitest";
import type { CreditedPayment } from "../../../src/commerce/payments/payment.ts";
import type { Quote } from "../../../src/commerce/quotes/quotes.ts";
import { covers, type PricedMethod, totalValueOf } from "../../../src/commerce/settlement/value.ts";
import { Dice } from "../../support/dice.ts";
import { asking, BTC, paymentOf, quoteOf, USDT } from "../../support/invoice-facts.ts";
import { CAMPAIGN_LIMIT_MS, campaignSeeds, eachSeed, schedulesOf } from "../engine/campaign.ts";

const count = schedulesOf(4_000);
const noted = new Map<string, number>();
const note = (what: string) => void noted.set(what, (noted.get(what) ?? 0) + 1);

/** A payment of a part of a quote's amount: `part` of the equal parts into which `sharesOf` divides the amount. */
interface Share {
  readonly method: PricedMethod;
  readonly quote: Quote;
  readonly part: bigint;
}

/** Quotes with divisible units, so that shares are whole units. */
function sharesOf(dice: Dice, expectedMicros: bigint, of: bigint): readonly Share[] {
  const methods = [USDT, BTC].map((method) => {
    const times = Array.from({ length: dice.between(1, 3) }, (_, n) => n * 1_000_000);
    const quotes = times.map((askedFromMs) =>
      quoteOf({
        amountUnits: of * BigInt(dice.between(1, dice.oneOf([3, 1_000, 100_000_000]))),
        forMicros: expectedMicros,
        askedFromMs,
        lockedUntilMs: askedFromMs + 1_000,
      }),
    );
    return { ...asking(method, 1n, expectedMicros), quotes, slackMs: 0 };
  });
  const all = methods.flatMap((method) => method.quotes.map((quote) => ({ method, quote })));
  const chosen = all.filter(() => dice.chance(0.6));
  let left = of;
  return (chosen.length === 0 ? all.slice(0, 1) : chosen).map((each, n, { length }) => {
    const part = n === length - 1 ? left : BigInt(dice.below(Number(left) + 1));
    left -= part;
    return { ...each, part };
  });
}

function paid({ method, quote, part }: Share, of: bigint, n: number): readonly CreditedPayment[] {
  const units = ((quote.amountUnits ?? 0n) / of) * part;
  if (units === 0n) return [];
  const { network, cryptocurrency } = method;
  return [paymentOf({ n, network, cryptocurrency, amountUnits: units, receivedAtMs: quote.askedFromMs + 1 })];
}

async function history(seed: number): Promise<void> {
  const dice = new Dice(seed);
  const expectedMicros = BigInt(dice.between(1, dice.oneOf([10, 1_000_000, 100_000_000])));
  const of = BigInt(dice.between(1, 12));
  const shares = sharesOf(dice, expectedMicros, of);
  const methods = [...new Set(shares.map(({ method }) => method))];
  const payments = shares.flatMap((share, n) => paid(share, of, n));
  const quotes = BigInt(payments.length);
  const whole = totalValueOf({ expectedMicros, methods, payments });
  expect([whole.micros, whole.slackMicros, whole.hasUnweighed]).toEqual([expectedMicros, quotes - 1n, false]);
  expect(covers(whole, expectedMicros)).toBe(true);
  const [first, ...others] = payments;
  const share = shares.find(({ part }) => part > 0n);
  if (first === undefined || share === undefined) return;
  // An invoice short by one share is worth the other shares, less up to a micro-unit of rounding per quote.
  const short = totalValueOf({ expectedMicros, methods, payments: others });
  const exact = (expectedMicros * (of - share.part)) / of;
  const isForgiven = short.micros === expectedMicros && exact + short.slackMicros >= expectedMicros;
  if (others.length > 0) note(isForgiven ? "short by less than is forgiven" : "short");
  if (isForgiven) return;
  expect(short.micros).toBeLessThanOrEqual(exact);
  expect(short.micros).toBeGreaterThanOrEqual(exact - BigInt(others.length));
  if (quotes > 1n) note("of several quotes");
}

it(`partial payments that add up to the amount due are worth the invoice's price: ${count} invoices`, {
  timeout: CAMPAIGN_LIMIT_MS,
}, async () => {
  await eachSeed(campaignSeeds(count), history);
  expect([...noted.keys()].toSorted()).toEqual(["of several quotes", "short", "short by less than is forgiven"]);
});
