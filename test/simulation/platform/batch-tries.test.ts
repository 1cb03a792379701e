// One batch on a database that fails in any sequence of ways: how often it is tried, with which pauses, and whether the caller learns if it was
// committed. A batch may have been executed although its answer was lost. Its row then exists, and the caller must get that result.
import { expect, it } from "vitest";
import { type MerchantId, makeId } from "../../../src/lib/ids.ts";
import type { Sleep } from "../../../src/lib/sleep.ts";
import { commitBatch } from "../../../src/platform/db/commit-batch.ts";
import { FAULT_MESSAGES } from "../../../src/platform/db/retry.ts";
import { insertOperation, selectOperation } from "../../../src/platform/idempotency/store.ts";
import { Dice } from "../../support/dice.ts";
import { CAMPAIGN_LIMIT_MS, campaignSeeds, eachSeed, schedulesOf } from "../engine/campaign.ts";
import { Lab } from "../engine/lab.ts";
import { World } from "../engine/world.ts";

const count = schedulesOf(600);
const MOST_TRIES = 3;
const MERCHANT: MerchantId = makeId("mer", "0".repeat(26));
const noted = new Map<string, number>();
const note = (what: string) => void noted.set(what, (noted.get(what) ?? 0) + 1);
const lab = new Lab();

interface Try {
  readonly kind: "answered" | "overloaded" | "transient" | "reset" | "a bug";
  /** Whether the database executes the batch, even if its answer is lost. */
  readonly arrives: boolean;
}

function tryOf(dice: Dice): Try {
  const kind = dice.oneOf(["answered", "overloaded", "transient", "transient", "reset", "a bug"] as const);
  return { kind, arrives: kind === "answered" || ((kind === "transient" || kind === "reset") && dice.chance(0.4)) };
}

interface Expected {
  readonly tries: number;
  readonly outcome: "committed" | "unknown" | "thrown";
  /** Whether the batch's row is looked up. */
  readonly isRead: boolean;
}

/** There is no retry if the database is overloaded, for a bug, or if the database refuses the batch's own row, and only one after a reset. */
function expectedOf(all: readonly Try[]): Expected {
  let isDone = false;
  for (const [n, { kind, arrives }] of all.entries()) {
    const tries = n + 1;
    if (kind === "a bug") return { tries, outcome: "thrown", isRead: false };
    if (kind === "answered" && !isDone) return { tries, outcome: "committed", isRead: false };
    if (kind === "overloaded" || (arrives && isDone))
      return { tries, outcome: isDone ? "committed" : "unknown", isRead: true };
    isDone ||= arrives;
    if (kind === "reset" && n > 0) return { tries, outcome: isDone ? "committed" : "unknown", isRead: true };
  }
  return { tries: all.length, outcome: isDone ? "committed" : "unknown", isRead: true };
}

async function history(seed: number): Promise<void> {
  const dice = new Dice(seed);
  const all = Array.from({ length: MOST_TRIES }, () => tryOf(dice));
  const operationId = String(seed).padStart(26, "0");
  let [tries, isRead] = [0, false];
  const pausesMs: number[] = [];
  const db = lab.db(async (point, work) => {
    isRead ||= point === "d1 read";
    if (point === "d1 read") return work();
    const now = all[tries++];
    if (now === undefined) throw new Error("tried too often");
    const done = now.arrives ? [work()] : [];
    const [answer] = done;
    if (now.kind === "answered" && answer !== undefined) return answer;
    if (now.kind === "answered" || now.kind === "a bug") throw new Error("D1_ERROR: no such table: shops");
    throw new Error(`D1_ERROR: ${dice.oneOf(FAULT_MESSAGES[now.kind])}`);
  });
  // An attempt's time limit is also a sleep, which is cancelled.
  const sleep: Sleep = (ms, cancellation) => {
    if (cancellation !== undefined) return new Promise((resolve) => cancellation.onCancel(resolve));
    pausesMs.push(ms);
    return Promise.resolve();
  };
  const operation = insertOperation(db, {
    id: operationId,
    merchantId: MERCHANT,
    status: 201,
    body: "{}",
    bodyAt: null,
    createdAtMs: 0,
  });
  const marker = () => selectOperation(db, { merchantId: MERCHANT, operationId });
  const committed = commitBatch({ db, sleep }, marker, [operation]);
  const { kind: outcome } = await committed.catch(() => ({ kind: "thrown" as const }));
  note(outcome);
  expect({ tries, outcome, isRead }).toEqual(expectedOf(all));
  expect(pausesMs).toHaveLength(tries - 1);
  expect(pausesMs.every((ms) => ms > 0)).toBe(true);
}

it(`a batch is tried at most as often as allowed, and reported as committed if it was: ${count} batches`, {
  timeout: CAMPAIGN_LIMIT_MS,
}, async () => {
  const calm = new World({ seed: 1, faultChance: 0, isTraced: false, onEviction: () => {} });
  await eachSeed(campaignSeeds(count), (seed) => lab.schedule(calm, () => history(seed)));
  expect([...noted.keys()].toSorted()).toEqual(["committed", "thrown", "unknown"]);
});
