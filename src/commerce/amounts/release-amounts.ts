// Frees amounts that invoices no longer need, each at its allocator first and then in D1. If an allocator freed an amount whose row was not marked,
// it is simply called again. Bounded, and safe to repeat and to run twice at the same time.
import { chunksOf } from "../../lib/chunks.ts";
import { logAlert, safeMessage } from "../../lib/log.ts";
import { MINUTE_MS } from "../../lib/time.ts";
import { batch } from "../../platform/db/batch.ts";
import type { Db } from "../../platform/db/client.ts";
import type { Left } from "../../platform/jobs/left.ts";
import { type AmountPlace, placeName } from "./amount-place.ts";
import type { InvoiceAmount } from "./amount-request.ts";
import { RELEASED_KEPT_MS } from "./released.ts";
import { type DueAmount, forgetAmounts, noteRelease, selectDueAmounts } from "./store.ts";

const AMOUNTS_A_RUN = 1_000;
/** Each place takes one call, and a failing call may take 3 seconds. */
const PLACES_A_RUN = 200;
const PLACES_AT_ONCE = 20;
/** When to retry if an allocator did not answer, or keeps an amount for longer than its row says. */
const AGAIN_AFTER_MS = 10 * MINUTE_MS;

export interface ReleaseDependencies {
  readonly db: Db;
  readonly nowMs: number;
  /** Returns, for each amount, whether its invoice no longer holds it: false if the hold has not ended. Throws if the allocator takes too long. */
  releaseAmounts(place: AmountPlace, amounts: readonly InvoiceAmount[], nowMs: number): Promise<readonly boolean[]>;
}

/** Frees the amounts that are due, and deletes the rows of amounts that were freed long ago. */
export async function releaseAmounts(deps: ReleaseDependencies): Promise<Left> {
  const { db, nowMs } = deps;
  const due = await selectDueAmounts(db, nowMs, AMOUNTS_A_RUN);
  const places = [...Map.groupBy(due, placeName).values()].slice(0, PLACES_A_RUN);
  const released: DueAmount[] = [];
  const kept: DueAmount[] = [];
  for (const chunk of chunksOf(places, PLACES_AT_ONCE)) {
    for (const { amounts, answers } of await Promise.all(chunk.map((amounts) => askRelease(deps, amounts)))) {
      released.push(...amounts.filter((_, n) => answers[n] === true));
      kept.push(...amounts.filter((_, n) => answers[n] !== true));
    }
  }
  const [, , forgotten] = await batch(db, [
    noteRelease(db, released, { releasedAtMs: nowMs, releaseAfterMs: null }),
    noteRelease(db, kept, { releasedAtMs: null, releaseAfterMs: nowMs + AGAIN_AFTER_MS }),
    forgetAmounts(db, nowMs - RELEASED_KEPT_MS, AMOUNTS_A_RUN),
  ]);
  const isCut = released.length + kept.length < due.length || due.length === AMOUNTS_A_RUN;
  return isCut || forgotten.meta.changes >= AMOUNTS_A_RUN ? "more" : "nothing";
}

/** The amounts at one place with the allocator's answers. If it does not respond, there are no answers, so that other places are not delayed. */
async function askRelease(deps: ReleaseDependencies, amounts: readonly DueAmount[]) {
  const [place] = amounts;
  if (place === undefined) return { amounts, answers: [] };
  const asked = amounts.map(({ invoiceId, units }) => ({ invoiceId, units }));
  try {
    return { amounts, answers: await deps.releaseAmounts(place, asked, deps.nowMs) };
  } catch (error) {
    logAlert("amounts could not be released", { network: place.network, what: safeMessage(error) });
    return { amounts, answers: [] };
  }
}
