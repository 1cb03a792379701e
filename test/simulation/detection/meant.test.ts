// Which invoice a transfer to a shared address belongs to. For any amounts, times and ranks, and with any damaged or forged rows, the transfer must
// be credited by the rules, and all other merchants must see why they do not get it. Operators are notified only of rows that cannot be read.
import { expect, it } from "vitest";
import { CAMPAIGN_LIMIT_MS, campaignSeeds, eachSeed, schedulesOf } from "../engine/campaign.ts";
import { MERCHANTS, situationOf } from "./meant-facts.ts";
import { LATER, later, needsSecond } from "./meant-later.ts";
import { expectedOf } from "./meant-oracle.ts";
import { inLab, merchantOf, outcomeOf, stock, toldOfCrowd } from "./meant-system.ts";

const count = schedulesOf(800);
const FEWEST = 5;
const noted = new Map<string, number>();
const note = (what: string) => void noted.set(what, (noted.get(what) ?? 0) + 1);
const KINDS = [
  ...["ADDRESS", "EXACT_AMOUNT", "TOLERANCE", "SOLE_CANDIDATE", "nobody's"].map((rule) => `rule: ${rule}`),
  ...["AMBIGUOUS", "AMOUNT_DIFFERS", "OUTSIDE_WINDOW"].map((reason) => `refused: ${reason}`),
  "too little for its invoice",
  "too little",
  "a review",
  "a review of late money",
  "an alert",
  "a crowd",
  "paid",
  ...LATER.map((what) => `later: ${what}`),
];

/** Sorts the candidates by id: if a row cannot be read, it is unknown which invoice is the likeliest. */
function sorted<T extends { readonly candidates: readonly { readonly invoiceId: string }[] }>(row: T): T {
  return { ...row, candidates: row.candidates.toSorted((a, b) => (a.invoiceId < b.invoiceId ? -1 : 1)) };
}

async function check(seed: number): Promise<void> {
  const situation = situationOf(seed);
  const expected = expectedOf(situation);
  const { rows, reviewed, alerts, paid, paidAfterSeconds } = await outcomeOf(situation, seed);
  const seconds = (situation.nowMs - situation.paidMs) / 1_000;
  expect(paidAfterSeconds).toEqual(Array.from({ length: paid }, () => seconds));
  if (paid > 0) note("paid");
  note(`rule: ${expected.rule}`);
  for (const { reason } of expected.refused) note(`refused: ${reason}`);
  if (expected.isDust) note(expected.invoice === null ? "too little" : "too little for its invoice");
  if (expected.isAlarming) note("an alert");
  const isLoose = expected.isDust || situation.isToItself;
  const loose = { invoice_id: null, matched_by: null, status: isLoose ? "IGNORED" : "UNMATCHED" };
  const candidatesOf = (merchant: number) =>
    expected.refused
      .filter(({ invoice }) => invoice.merchant === merchant)
      .map(({ invoice, reason }) => ({ invoiceId: invoice.id, reason }));
  const to = ({ merchant }: { readonly merchant: number }) => ({ merchant_id: merchantOf(merchant), candidates: [] });
  const all = Array.from({ length: MERCHANTS }, (_, merchant) => ({
    ...loose,
    merchant_id: merchantOf(merchant),
    candidates: candidatesOf(merchant),
  }));
  const { invoice, rule, needsReview } = expected;
  const isHeldBack = situation.hasSecond && needsSecond(situation, expected);
  const status = situation.isMined && !isHeldBack ? "CONFIRMED" : "DETECTED";
  const credited = (of: { readonly merchant: number; readonly id: string }) => ({
    ...to(of),
    invoice_id: of.id,
    matched_by: rule,
    status,
  });
  const crowd = situation.isCrowded ? toldOfCrowd() : [];
  const others = crowd.map((merchant_id) => ({ ...loose, merchant_id, candidates: [] }));
  if (invoice === null && situation.isCrowded) note("a crowd");
  const wanted =
    invoice === null ? [...all, ...others] : [expected.isDust ? { ...loose, ...to(invoice) } : credited(invoice)];
  const stored = rows.map(({ evidence, ...row }) => ({ ...row, candidates: JSON.parse(String(evidence)).candidates }));
  expect(expected.isAlarming ? stored.map(sorted) : stored).toEqual(expected.isAlarming ? wanted.map(sorted) : wanted);
  const isLate = invoice !== null && (invoice.cancelledMs !== null || situation.paidMs > invoice.expiresMs);
  const isReviewed = invoice !== null && !expected.isDust && (needsReview || isLate);
  if (isReviewed) note(isLate ? "a review of late money" : "a review");
  expect(reviewed).toEqual(isReviewed ? [invoice.id] : []);
  expect(alerts.length > 0, alerts.join()).toBe(expected.isAlarming);
  await later(situation, { seed, expected, rows }, note);
}

it(
  `a transfer to a shared address is credited to the invoice that the rules select, and to no other: ${count} situations`,
  async () => {
    await stock();
    await eachSeed(campaignSeeds(count), (seed) => inLab(() => check(seed), seed));
    expect(KINDS.filter((kind) => (noted.get(kind) ?? 0) < FEWEST)).toEqual([]);
  },
  CAMPAIGN_LIMIT_MS,
);
