// Allocates amounts at one address for invoices of several merchants, at colliding prices with few candidates. The amounts are kept, released, looked
// up, and handed to a new object, around both ends of their periods. Every answer must match a model that reads every reserved amount.
import { expect, it } from "vitest";
import { pairOf } from "../../../src/chains/registry/pair.ts";
import { AmountAllocations } from "../../../src/commerce/amounts/amount-allocations.ts";
import type { AmountRequest, StandingAmount } from "../../../src/commerce/amounts/amount-request.ts";
import { PROVEN, type Sharing, UNPROVEN } from "../../../src/commerce/ranks/rank.ts";
import type { ObjectStorage } from "../../../src/lib/object-storage.ts";
import { DAY_MS, HOUR_MS, SECOND_MS } from "../../../src/lib/time.ts";
import { AmountModel, candidatesOf, type Held } from "../../support/amount-model.ts";
import { Dice } from "../../support/dice.ts";
import { memoryStorage } from "../../support/object-storage.ts";
import { CAMPAIGN_LIMIT_MS, campaignSeeds, schedulesOf } from "../engine/campaign.ts";

const count = schedulesOf(250);
const STEPS = 60;
const INVOICES = 18;
const MERCHANTS = 3;
const noted = new Map<string, number>();
const note = (what: string) => void noted.set(what, (noted.get(what) ?? 0) + 1);
const KINDS = [
  "given",
  "the same again",
  "AMOUNTS_EXHAUSTED",
  "LIMIT_REACHED",
  "an amount of another price",
  "one candidate",
  "runs low",
  "is low",
  "was low",
  "released",
  "not over",
  "over this millisecond",
  "taken over",
  "evicted",
  "looked up",
];

/** Prices in grains: with one, two or about a dozen candidates, and one whose candidates are in coarse steps. */
const PRICES = {
  "BTC BTC": [1n, 2n, 199n, 200n, 600n, 2_400n, 8_000n],
  "ETH ETH": [1n, 199n, 200n, 600n, 2_400n],
  "USDT ETH": [1n, 199n, 200n, 2_400n, 8_000n],
} as const;
type Coin = keyof typeof PRICES;

class System {
  readonly dice: Dice;
  readonly place;
  readonly asset;
  readonly model;
  readonly isShared: boolean;
  readonly #grains: bigint;
  storage: ObjectStorage = memoryStorage();
  real: AmountAllocations;
  nowMs = 0;

  constructor(seed: number) {
    this.dice = new Dice(seed);
    const coin = this.dice.oneOf(Object.keys(PRICES)) as Coin;
    const [cryptocurrency = "", network = ""] = coin.split(" ");
    this.place = { network, cryptocurrency, address: "an address" };
    this.asset = pairOf(this.place).asset;
    this.model = new AmountModel(this.asset);
    this.isShared = this.dice.chance(0.6);
    this.#grains = this.dice.oneOf(PRICES[coin]);
    this.real = new AmountAllocations(this.storage, this.place);
  }

  /** A request for a random invoice. Requests for the same invoice differ only in price and time. */
  request(): AmountRequest {
    const { dice } = this;
    const n = dice.below(INVOICES);
    const merchant = n % MERCHANTS;
    const createdAtMs = (n % 4) * 10 * HOUR_MS;
    const near = this.#grains + BigInt(dice.oneOf([0, 0, 0, 1, -1, 2]));
    return {
      invoiceId: `inv_${n}`,
      merchantId: `mer_${merchant}`,
      priceUnits: (near < 1n ? 1n : near) * this.asset.grainUnits,
      sharing: this.#sharing(merchant),
      isPublic: n % 5 === 0,
      createdAtMs,
      expiresAtMs: createdAtMs + HOUR_MS,
      monitorUntilMs: createdAtMs + 2 * DAY_MS,
      nowMs: this.nowMs,
    };
  }

  /** Merchant 0 has proof of the address (decisions 12). The other merchants matter only if the address is shared. */
  #sharing(merchant: number): Sharing {
    if (!this.isShared) return { rank: UNPROVEN, hasOthers: false, provenOthers: 0 };
    const isProven = merchant === 0;
    return { rank: isProven ? PROVEN : UNPROVEN, hasOthers: true, provenOthers: isProven ? 0 : 1 };
  }
}

/** Predicts which invoice the warning that few amounts are left must name, for each `invoiceId price`. */
class Lows {
  readonly #asks = new Map<
    string,
    { readonly price: bigint; readonly merchantId: string; readonly rank: number; low: string | null }
  >();

  /** A new object does not know which invoices earlier warnings named. */
  forget(): void {
    for (const each of this.#asks.values()) each.low = null;
  }

  drop(model: AmountModel): void {
    for (const key of this.#asks.keys()) if (!model.given.has(key)) this.#asks.delete(key);
  }

  /** Once only a fifth of a price's amounts is left, every warning names the invoice that crossed this threshold. */
  expected(
    { invoiceId, merchantId, priceUnits: price }: AmountRequest,
    rank: number,
    candidates: number,
  ): string | null {
    const key = `${invoiceId} ${price}`;
    const known = this.#asks.get(key);
    if (known !== undefined) {
      if (known.low !== null) note("was low");
      return known.low;
    }
    const own = { price, merchantId, rank, low: null as string | null };
    this.#asks.set(key, own);
    const asks = [...this.#asks.values()].filter((each) => each.price === price);
    const taken = asks.filter((each) => each.rank <= rank || each.merchantId === merchantId).length;
    const ofMerchant = asks.filter((each) => each.merchantId === merchantId);
    if (candidates === 1 || taken * 5 < candidates * 4) return null;
    const isFirst = (taken - 1) * 5 < candidates * 4;
    note(isFirst ? "runs low" : "is low");
    own.low = isFirst ? invoiceId : (ofMerchant.find(({ low }) => low !== null)?.low ?? null);
    if (isFirst) for (const each of ofMerchant) if (each !== own) each.low = null;
    return own.low;
  }
}

function allocates(system: System, lows: Lows): void {
  const { model, asset } = system;
  const request = system.request();
  const isAgain = model.given.has(`${request.invoiceId} ${request.priceUnits}`);
  const expected = model.allocate(request);
  const [answer] = system.real.allocate([request]);
  expect(answer?.kind === "given" ? answer.units : answer?.refusal.code).toBe(expected);
  if (answer?.kind !== "given") {
    note(String(expected));
    return;
  }
  note(isAgain ? "the same again" : "given");
  const candidates = candidatesOf(request.priceUnits, asset);
  expect(candidates).toContain(answer.units);
  if (candidates.length === 1) note("one candidate");
  const own = model.held.find(({ units, invoiceId }) => units === answer.units && invoiceId === request.invoiceId);
  expect(own).toMatchObject({ untilMs: answer.heldUntilMs, rank: answer.rank });
  const isOfAnother = [...model.given].some(
    ([key, units]) => units === answer.units && key !== `${request.invoiceId} ${request.priceUnits}`,
  );
  if (isOfAnother) note("an amount of another price");
  expect(answer.lowSince).toBe(lows.expected(request, answer.rank, candidates.length));
}

/** An amount larger than any chain can move is never allocated, because texts of its length would not sort like numbers. */
function asksForTooMuch({ real, asset, storage }: System, request: AmountRequest): void {
  const beyond = 10n ** 78n * asset.grainUnits;
  expect(() => real.allocate([{ ...request, invoiceId: "inv_absurd", priceUnits: beyond }])).toThrow();
  expect(storage.sql.exec("select 1 from amounts where invoice_id = 'inv_absurd'").toArray()).toEqual([]);
}

/** Asks to release the amounts of one invoice. An amount whose period ends in this very millisecond is still reserved. */
function releases({ model, real, dice, nowMs }: System): void {
  const one = model.held[dice.below(Math.max(1, model.held.length))];
  if (one === undefined) return;
  const own = model.held.filter(({ invoiceId }) => invoiceId === one.invoiceId);
  const atMs = dice.oneOf([nowMs, one.untilMs - 1, one.untilMs, one.untilMs + 1]);
  if (atMs < nowMs) return;
  if (atMs === one.untilMs) note("over this millisecond");
  const isOver = ({ untilMs }: Held) => untilMs < atMs;
  for (const each of own) note(isOver(each) ? "released" : "not over");
  expect(real.release(own, atMs)).toEqual(own.map(isOver));
  model.drop((each) => own.includes(each) && isOver(each));
  expect(real.release([{ invoiceId: "inv_nobody", units: one.units }], atMs)).toEqual([true]);
}

/** An amount without a row is no longer counted, and is free an hour after its hold ends. */
function looksUp({ model, real, dice, nowMs }: System): void {
  const overdue = real.overdue(nowMs, dice.oneOf([1, 3, 100]));
  const isDue = (each: Held) =>
    overdue.some(({ units, invoiceId }) => units === each.units && invoiceId === each.invoiceId);
  const stored = new Set(model.held.filter(() => dice.chance(0.5)));
  if (overdue.length > 0) note("looked up");
  real.settle(overdue, [...stored], nowMs);
  model.drop((each) => isDue(each) && !stored.has(each) && each.untilMs + HOUR_MS <= nowMs);
  model.count((each) => (isDue(each) ? stored.has(each) : undefined));
}

/** Moves to a new object, which receives the reserved amounts and their invoices. */
function takesOver(system: System, lows: Lows): void {
  const { model, place } = system;
  const standing = [...model.given].flatMap(([key, units]): readonly StandingAmount[] => {
    const [invoiceId = "", price = ""] = key.split(" ");
    const held = model.held.find((each) => each.units === units && each.invoiceId === invoiceId);
    return held === undefined ? [] : [{ ...held, units, priceUnits: BigInt(price) }];
  });
  if (standing.length === 0) return;
  note("taken over");
  system.storage = memoryStorage();
  system.real = new AmountAllocations(system.storage, place);
  expect(system.real.isNew()).toBe(true);
  system.real.begin(standing);
  system.real.begin(standing);
  expect(system.real.isNew()).toBe(false);
  model.count(() => true);
  lows.forget();
}

function history(seed: number): void {
  const system = new System(seed);
  const { dice, model } = system;
  const lows = new Lows();
  for (let step = 0; step < STEPS; step++) {
    const act = dice.oneOf(ACTS);
    if (act === "allocate") allocates(system, lows);
    if (act === "release") releases(system);
    if (act === "too much") asksForTooMuch(system, system.request());
    if (act === "look up") looksUp(system);
    if (act === "wait") system.nowMs += dice.oneOf([1, SECOND_MS, 10 * 60 * SECOND_MS, HOUR_MS, 7 * HOUR_MS]);
    if (act === "evict") {
      note("evicted");
      system.real = new AmountAllocations(system.storage, system.place);
    }
    if (act === "take over" && dice.chance(0.2)) takesOver(system, lows);
    lows.drop(model);
  }
}

const ACTS = [
  ...Array.from({ length: 14 }, () => "allocate" as const),
  "release",
  "look up",
  "wait",
  "evict",
  "take over",
  "too much",
] as const;

it(
  `amounts at an address are allocated, kept and released as the model predicts: ${count} histories`,
  () => {
    for (const seed of campaignSeeds(count)) {
      try {
        history(seed);
      } catch (error) {
        throw new Error(`seed ${seed}: ${error instanceof Error ? error.message : error}`, { cause: error });
      }
    }
    expect(KINDS.filter((kind) => !noted.has(kind))).toEqual([]);
  },
  CAMPAIGN_LIMIT_MS,
);
