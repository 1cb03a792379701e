// The allocator of one address, compared with a model that reads every reserved amount for each answer.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AmountAllocations } from "../../../../src/commerce/amounts/amount-allocations.ts";
import type { AmountRequest } from "../../../../src/commerce/amounts/amount-request.ts";
import { PROVEN, type Sharing, UNPROVEN } from "../../../../src/commerce/ranks/rank.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../../src/lib/time.ts";
import { AmountModel, candidatesOf, type Held, PLACE } from "../../../support/amount-model.ts";
import { memoryStorage } from "../../../support/object-storage.ts";
import { RUNS } from "../../../support/property-runs.ts";

const ALONE: Sharing = { rank: UNPROVEN, hasOthers: false, provenOthers: 0 };

function requestOf(invoiceId: string, over: Partial<AmountRequest> = {}): AmountRequest {
  const times = { createdAtMs: 0, expiresAtMs: HOUR_MS, monitorUntilMs: DAY_MS, nowMs: 0 };
  return { invoiceId, merchantId: "mer_a", priceUnits: 2_400n, sharing: ALONE, isPublic: false, ...times, ...over };
}

const MERCHANTS = 6;
/** Merchants 0 and 1 are proven, the others are not. */
const PROVEN_MERCHANTS = 2;

function sharingOf(merchant: number): Sharing {
  const isProven = merchant < PROVEN_MERCHANTS;
  return { rank: isProven ? PROVEN : UNPROVEN, hasOthers: true, provenOthers: isProven ? 1 : 2 };
}

type Step =
  | { readonly kind: "allocate"; readonly invoice: number; readonly offBy: number; readonly isAlone: boolean }
  | { readonly kind: "release"; readonly invoice: number }
  | { readonly kind: "check"; readonly standing: readonly number[] }
  | { readonly kind: "wait"; readonly hours: number };

const anyInvoice = fc.nat({ max: 23 });
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant("allocate" as const),
      invoice: anyInvoice,
      offBy: fc.integer({ min: -8, max: 8 }),
      isAlone: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("release" as const), invoice: anyInvoice }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("check" as const), standing: fc.uniqueArray(anyInvoice) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("wait" as const), hours: fc.integer({ min: 1, max: 30 }) }) },
);
const anySteps = fc.array(anyStep, { maxLength: 80, size: "max" });

const idOf = (invoice: number) => `inv_${invoice}`;

/** An invoice always makes the same request, except for the price and for whether others share the address. */
function requestIn(step: Extract<Step, { kind: "allocate" }>, nowMs: number, prices: bigint): AmountRequest {
  const { invoice, offBy, isAlone } = step;
  const merchant = invoice % MERCHANTS;
  const sharing = isAlone && merchant === 5 ? ALONE : sharingOf(merchant);
  const createdAtMs = (invoice % 4) * 10 * HOUR_MS;
  const times = { createdAtMs, expiresAtMs: createdAtMs + HOUR_MS, monitorUntilMs: createdAtMs + 2 * DAY_MS, nowMs };
  const isPublic = invoice % 3 === 0;
  const priceUnits = prices + BigInt(offBy);
  return { invoiceId: idOf(invoice), merchantId: `mer_${merchant}`, priceUnits, sharing, isPublic, ...times };
}

describe("the allocator of one address, after any history", () => {
  it("agrees with a model of the rules, gives an invoice one amount per price, and releases no amount early", () => {
    fc.assert(
      fc.property(anySteps, fc.constantFrom(600n, 2_400n), (steps, prices) => {
        const [real, model] = [new AmountAllocations(memoryStorage(), PLACE), new AmountModel()];
        let nowMs = 0;
        for (const step of steps) {
          switch (step.kind) {
            case "wait":
              nowMs += step.hours * HOUR_MS;
              break;
            case "allocate": {
              const request = requestIn(step, nowMs, prices);
              const [answer] = real.allocate([request]);
              expect(answer?.kind === "given" ? answer.units : answer?.refusal.code).toBe(model.allocate(request));
              expect(real.allocate([request])).toEqual([answer]);
              break;
            }
            case "release": {
              const own = model.held.filter(({ invoiceId }) => invoiceId === idOf(step.invoice));
              expect(real.release(own, nowMs)).toEqual(own.map(({ untilMs }) => untilMs < nowMs));
              model.drop((each) => own.includes(each) && each.untilMs < nowMs);
              break;
            }
            case "check": {
              const overdue = real.overdue(nowMs, 100);
              const isDue = (each: Held) =>
                overdue.some(({ units, invoiceId }) => units === each.units && invoiceId === each.invoiceId);
              const isStored = (each: Held) => step.standing.map(idOf).includes(each.invoiceId);
              real.settle(overdue, model.held.filter(isStored), nowMs);
              model.drop((each) => isDue(each) && !isStored(each) && each.untilMs + HOUR_MS <= nowMs);
              model.count((each) => (isDue(each) ? isStored(each) : undefined));
            }
          }
          const { held } = model;
          expect(new Set(held.map(({ units, rank }) => `${units} ${rank}`)).size).toBe(held.length);
          expect(new Set(held.map(({ units, merchantId }) => `${units} ${merchantId}`)).size).toBe(held.length);
        }
      }),
      { numRuns: Math.ceil(RUNS / 5) },
    );
  });

  it("gives a list of requests the same amounts as single requests in that order, and a refused request takes no amount", () => {
    fc.assert(
      fc.property(anySteps, (steps) => {
        const requests = steps.flatMap((step) => (step.kind === "allocate" ? [requestIn(step, 0, 2_400n)] : []));
        const [listed, single, without] = [0, 1, 2].map(() => new AmountAllocations(memoryStorage(), PLACE));
        const answers = requests.flatMap((request) => single?.allocate([request]) ?? []);
        expect(listed?.allocate(requests)).toEqual(answers);
        const isGiven = (_: unknown, n: number) => answers[n]?.kind === "given";
        expect(without?.allocate(requests.filter(isGiven))).toEqual(answers.filter(isGiven));
      }),
      { numRuns: Math.ceil(RUNS / 10) },
    );
  });

  it("keeps the same amounts, no matter in which order the others are released", () => {
    fc.assert(
      fc.property(anySteps, fc.infiniteStream(fc.nat()), (steps, chance) => {
        const requests = steps.flatMap((step) => (step.kind === "allocate" ? [requestIn(step, 0, 2_400n)] : []));
        const objects = [memoryStorage(), memoryStorage()].map((each) => new AmountAllocations(each, PLACE));
        const given = requests.flatMap((request) => {
          const [answer] = objects.map((each) => each.allocate([request])[0]);
          return answer?.kind === "given" ? [{ invoiceId: request.invoiceId, units: answer.units }] : [];
        });
        const shuffled = given
          .map((amount) => ({ amount, at: chance.next().value ?? 0 }))
          .toSorted((a, b) => a.at - b.at)
          .map(({ amount }) => amount);
        const atMs = 2 * DAY_MS + 15 * HOUR_MS;
        const [first, second] = objects;
        first?.release(given, atMs);
        for (const amount of shuffled) second?.release([amount], atMs);
        const later = atMs + 30 * DAY_MS;
        expect(second?.overdue(later, 1_000)).toEqual(first?.overdue(later, 1_000));
      }),
      { numRuns: Math.ceil(RUNS / 10) },
    );
  });
});

describe("an amount", () => {
  it("is the first free candidate, no matter which merchants and prices the taken ones belong to", () => {
    const allocations = new AmountAllocations(memoryStorage(), PLACE);
    const units = (invoiceId: string, over: Partial<AmountRequest> = {}) => {
      const [answer] = allocations.allocate([requestOf(invoiceId, over)]);
      return answer?.kind === "given" ? answer.units : answer?.refusal.code;
    };
    expect([units("a"), units("b"), units("c", { merchantId: "mer_b" })]).toEqual([2_400n, 2_399n, 2_398n]);
    expect(units("d", { priceUnits: 2_401n })).toBe(2_401n);
    expect(units("e", { priceUnits: 2_401n })).toBe(2_397n);
    expect(units("a", { priceUnits: 2_401n })).toBe(2_400n);
    expect(units("a")).toBe(2_400n);
  });

  it("is found even if only the last of ten thousand candidates is free", () => {
    const allocations = new AmountAllocations(memoryStorage(), PLACE);
    const candidates = candidatesOf(2_000_000n);
    // Each of these amounts is taken by an invoice with that price.
    const plain = candidates.filter((_, salt) => salt !== 3_000 && salt !== 10_000);
    allocations.allocate(plain.map((priceUnits, n) => requestOf(`inv_${n}`, { priceUnits })));
    const asked = ["x", "y", "z"].map((invoiceId) => requestOf(invoiceId, { priceUnits: 2_000_000n }));
    expect(allocations.allocate(asked)).toMatchObject([
      { units: candidates[3_000] },
      { units: candidates[10_000] },
      { kind: "refused", refusal: { code: "AMOUNTS_EXHAUSTED" } },
    ]);
  });

  it("is not searched for again at an exhausted price until an amount is released", () => {
    const { sql, transactionSync } = memoryStorage();
    let searches = 0;
    const exec = (query: string, ...bindings: (string | number | null)[]) => {
      if (query.includes("json_each")) searches++;
      return sql.exec(query, ...bindings);
    };
    const allocations = new AmountAllocations({ transactionSync, sql: { exec } }, PLACE);
    const ask = (invoiceId: string, over: Partial<AmountRequest> = {}) => {
      const before = searches;
      const [answer] = allocations.allocate([requestOf(invoiceId, { priceUnits: 200n, ...over })]);
      return [answer?.kind === "given" ? answer.units : answer?.refusal.code, searches > before];
    };
    // A price of 200 units has two amounts.
    expect([ask("a"), ask("b")]).toEqual([
      [200n, true],
      [199n, true],
    ]);
    expect([ask("c"), ask("c"), ask("d")]).toEqual([
      ["AMOUNTS_EXHAUSTED", true],
      ...Array(2).fill(["AMOUNTS_EXHAUSTED", false]),
    ]);
    // An invoice keeps its amount if that amount is also valid for its new price.
    expect(ask("b", { priceUnits: 199n })).toEqual([199n, true]);
    expect([ask("a", { priceUnits: 199n }), ask("a", { priceUnits: 199n })]).toEqual([
      ["AMOUNTS_EXHAUSTED", true],
      ["AMOUNTS_EXHAUSTED", false],
    ]);
    const later = { nowMs: DAY_MS + 1, expiresAtMs: DAY_MS + 1, monitorUntilMs: 2 * DAY_MS };
    expect(allocations.release([{ invoiceId: "a", units: 200n }], DAY_MS + 1)).toEqual([true]);
    expect([ask("c", later), ask("d", later), ask("d", later)]).toEqual([
      [200n, true],
      ["AMOUNTS_EXHAUSTED", true],
      ["AMOUNTS_EXHAUSTED", false],
    ]);
  });

  it("stays reserved until the invoice's new end if a repeated request extends the invoice", () => {
    const allocations = new AmountAllocations(memoryStorage(), PLACE);
    const later = { createdAtMs: HOUR_MS, expiresAtMs: 2 * HOUR_MS, monitorUntilMs: DAY_MS + HOUR_MS, nowMs: HOUR_MS };
    allocations.allocate([requestOf("a")]);
    expect(allocations.allocate([requestOf("a", later)])).toMatchObject([
      { units: 2_400n, heldUntilMs: DAY_MS + HOUR_MS },
    ]);
    const amount = { invoiceId: "a", units: 2_400n };
    expect(allocations.release([amount], DAY_MS + HOUR_MS)).toEqual([false]);
    expect(allocations.release([amount, amount], DAY_MS + HOUR_MS + 1)).toEqual([true, true]);
  });

  it("that is requested again while D1 is queried is not released because of the query's result", () => {
    const allocations = new AmountAllocations(memoryStorage(), PLACE);
    allocations.allocate([requestOf("a"), requestOf("b")]);
    const nowMs = DAY_MS + 2 * HOUR_MS;
    const overdue = allocations.overdue(nowMs, 10);
    expect(overdue.map(({ invoiceId }) => invoiceId)).toEqual(["b", "a"]);
    allocations.allocate([requestOf("a", { nowMs, expiresAtMs: nowMs, monitorUntilMs: nowMs + HOUR_MS })]);
    allocations.settle(overdue, [], nowMs);
    expect(allocations.nextCheckMs()).toBe(nowMs + 2 * HOUR_MS);
    expect(allocations.allocate([requestOf("c"), requestOf("d")])).toMatchObject([
      { units: 2_399n },
      { units: 2_398n },
    ]);
  });

  it("counts toward a limit for ten minutes, and longer only if its invoice is stored, but stays reserved in either case", () => {
    const allocations = new AmountAllocations(memoryStorage(), PLACE);
    const shared = { rank: UNPROVEN, hasOthers: true, provenOthers: 0 };
    const askAt = (invoiceId: string, nowMs: number) => {
      const [answer] = allocations.allocate([requestOf(invoiceId, { sharing: shared, nowMs })]);
      return answer?.kind === "given" ? answer.units : answer?.refusal.code;
    };
    // An unproven merchant may hold three of the amounts around this price.
    const first = ["a", "b", "c"].map((invoiceId) => askAt(invoiceId, 0));
    expect(first).toEqual([2_400n, 2_399n, 2_398n]);
    expect(askAt("d", 0)).toBe("LIMIT_REACHED");
    expect([allocations.overdue(10 * MINUTE_MS - 1, 10), allocations.nextCheckMs()]).toEqual([[], 10 * MINUTE_MS]);
    const overdue = allocations.overdue(10 * MINUTE_MS, 10);
    allocations.settle(overdue, [{ invoiceId: "a", units: 2_400n }], 10 * MINUTE_MS);
    expect(["e", "f", "g"].map((invoiceId) => askAt(invoiceId, 11 * MINUTE_MS))).toEqual([
      2_397n,
      2_396n,
      "LIMIT_REACHED",
    ]);
    // An invoice that asks again keeps its amount if the limits allow that.
    expect(askAt("b", 12 * MINUTE_MS)).toBe("LIMIT_REACHED");
    allocations.settle(allocations.overdue(30 * MINUTE_MS, 10), [{ invoiceId: "f", units: 2_396n }], 30 * MINUTE_MS);
    expect(["b", "h", "a"].map((invoiceId) => askAt(invoiceId, 31 * MINUTE_MS))).toEqual([
      2_399n,
      "LIMIT_REACHED",
      2_400n,
    ]);
    expect(allocations.release([{ invoiceId: "c", units: 2_398n }], DAY_MS)).toEqual([false]);
  });

  it("that has a row in D1 is checked again an hour later, even long after its reservation ended", () => {
    const allocations = new AmountAllocations(memoryStorage(), PLACE);
    allocations.allocate([requestOf("a")]);
    const nowMs = DAY_MS + HOUR_MS;
    allocations.settle(allocations.overdue(nowMs, 10), [{ invoiceId: "a", units: 2_400n }], nowMs);
    expect([allocations.overdue(nowMs, 10), allocations.nextCheckMs()]).toEqual([[], nowMs + HOUR_MS]);
  });

  it("keeps the rank of its invoice's first request, even if the merchant is proven later", () => {
    const allocations = new AmountAllocations(memoryStorage(), PLACE);
    const unproven = { rank: UNPROVEN, hasOthers: true, provenOthers: 0 };
    const proven = { ...unproven, rank: PROVEN };
    const asked = [
      requestOf("a", { sharing: unproven }),
      requestOf("a", { sharing: proven, priceUnits: 2_500n }),
      requestOf("b", { sharing: proven, priceUnits: 2_500n }),
    ];
    expect(allocations.allocate(asked)).toMatchObject([{ rank: UNPROVEN }, { rank: UNPROVEN }, { rank: PROVEN }]);
  });
});

describe("the server of one of two proven merchants", () => {
  const PROVEN_OF_TWO: Sharing = { rank: PROVEN, hasOthers: true, provenOthers: 1 };
  // There are 11 amounts for two merchants: each may hold 6 of them, and its browsers 3 of those 6.
  const askedAt = (prices: readonly bigint[], over: Partial<AmountRequest>) =>
    prices.map((priceUnits, n) =>
      requestOf(`inv_${over.isPublic === true}_${over.sharing?.rank}_${n}`, { priceUnits, ...over }),
    );
  const answersOf = (allocations: AmountAllocations, asked: readonly AmountRequest[]) =>
    allocations.allocate(asked).map((answer) => (answer.kind === "given" ? "given" : answer.refusal.code));

  it("can use its share of a price's amounts even if the merchant's browsers have taken their shares of two neighbouring prices", () => {
    const allocations = new AmountAllocations(memoryStorage(), PLACE);
    const ofBrowsers = { sharing: PROVEN_OF_TWO, isPublic: true };
    const taken = [2_388n, 2_387n, 2_386n, 2_412n, 2_411n, 2_410n];
    expect(new Set(answersOf(allocations, askedAt(taken, ofBrowsers)))).toEqual(new Set(["given"]));
    const ofServer = askedAt([2_399n, 2_399n, 2_399n, 2_399n], { sharing: PROVEN_OF_TWO });
    expect(answersOf(allocations, ofServer)).toEqual(["given", "given", "given", "AMOUNTS_EXHAUSTED"]);
  });

  it("gets exactly its share, even if the merchant's browsers have amounts from before the merchant was proven", () => {
    const allocations = new AmountAllocations(memoryStorage(), PLACE);
    const alone = { sharing: ALONE, isPublic: true };
    expect(new Set(answersOf(allocations, askedAt([2_399n, 2_398n, 2_397n, 2_396n], alone)))).toEqual(
      new Set(["given"]),
    );
    const ofServer = askedAt(
      Array.from({ length: 7 }, () => 2_399n),
      { sharing: PROVEN_OF_TWO },
    );
    expect(answersOf(allocations, ofServer)).toEqual([...Array(6).fill("given"), "AMOUNTS_EXHAUSTED"]);
  });
});

describe("the warning that amounts run low", () => {
  it("comes with the amount that reaches the threshold, with all later amounts, and with every repeated request", () => {
    const allocations = new AmountAllocations(memoryStorage(), PLACE);
    // There are 11 amounts; the ninth triggers the warning.
    const asked = Array.from({ length: 11 }, (_, n) => requestOf(`inv_${n}`, { priceUnits: 2_000n }));
    const lowSince = () => allocations.allocate(asked).map((answer) => answer.kind === "given" && answer.lowSince);
    const expected = [...Array(8).fill(null), "inv_8", "inv_8", "inv_8"];
    expect(lowSince()).toEqual(expected);
    expect(lowSince()).toEqual(expected);
  });

  it("comes again when the amounts run low again", () => {
    const allocations = new AmountAllocations(memoryStorage(), PLACE);
    const ask = (from: number, to: number, more: Partial<AmountRequest> = {}) =>
      Array.from({ length: to - from }, (_, n) => requestOf(`inv_${from + n}`, { priceUnits: 2_000n, ...more })).map(
        (request) => ({ request, answer: allocations.allocate([request])[0] }),
      );
    const first = ask(0, 10);
    const overMs = DAY_MS + 1;
    const freed = first
      .slice(0, 3)
      .flatMap(({ request: { invoiceId }, answer }) =>
        answer?.kind === "given" ? [{ invoiceId, units: answer.units }] : [],
      );
    expect(allocations.release(freed, overMs)).toEqual([true, true, true]);
    const later = ask(10, 14, { nowMs: overMs, expiresAtMs: overMs, monitorUntilMs: 2 * overMs });
    expect(later.map(({ answer }) => answer?.kind === "given" && answer.lowSince)).toEqual([
      null,
      "inv_11",
      "inv_11",
      "inv_11",
    ]);
  });
});

it("every SQL statement finds its rows through an index, even when the amounts are exhausted", () => {
  const { sql, transactionSync } = memoryStorage();
  const said = new Set<string>();
  const noting = {
    transactionSync,
    sql: {
      exec: (query: string, ...bindings: (string | number | null)[]) => {
        said.add(query);
        return sql.exec(query, ...bindings);
      },
    },
  };
  const allocations = new AmountAllocations(noting, PLACE);
  const shared = { rank: UNPROVEN, hasOthers: true, provenOthers: 1 };
  // The last request at a price is refused only after the allocator has read all amounts near that price.
  const asked = Array.from({ length: 12 }, (_, n) => requestOf(`inv_${n}`, { sharing: shared, isPublic: true }));
  allocations.allocate([...asked, requestOf("inv_0", { priceUnits: 2_401n })]);
  const overdue = allocations.overdue(DAY_MS + HOUR_MS, 10);
  allocations.settle(overdue, overdue.slice(1), DAY_MS + HOUR_MS);
  allocations.release(overdue, DAY_MS + 1);
  const plans = [...said]
    .filter((query) => /^\s*(SELECT|UPDATE|DELETE)/.test(query))
    .map((query) => {
      const marks = Array.from(query.matchAll(/\?/g), () => "[]");
      const steps = sql.exec(`EXPLAIN QUERY PLAN ${query}`, ...marks).toArray();
      return `${query}: ${steps.map(({ detail }) => detail).join("; ")}`;
    });
  expect(plans.length).toBeGreaterThan(12);
  // The scan of amounts_check is allowed, because it reads only the first entry, which has the earliest time.
  const scans = plans.filter((plan) =>
    /SCAN (?!candidate)(?!amounts USING COVERING INDEX amounts_check)|TEMP B-TREE/.test(plan),
  );
  expect(scans).toEqual([]);
});
