import { DurableObject } from "cloudflare:workers";
import { logAlert, safeMessage } from "../../lib/log.ts";
import { MINUTE_MS } from "../../lib/time.ts";
import { OwnEntry } from "../../platform/directory/own-entry.ts";
import { AmountAllocations } from "./amount-allocations.ts";
import { type AmountPlace, placeNamed } from "./amount-place.ts";
import type { AmountAnswer, AmountRequest, GivenAmounts, GivenAmountsSince, InvoiceAmount } from "./amount-request.ts";
import { checkAmounts } from "./check-amounts.ts";
import { checkDependencies } from "./dependencies.ts";
import { readStanding } from "./read-standing.ts";
import { ShownAmounts } from "./shown-amounts.ts";

/** The shortest time until the next check, even if the last one failed or did not reach all amounts. */
const PAUSE_MS = 5 * MINUTE_MS;

/**
 * One object per asset at an address on a network, named by `placeName`. Only this object gives amounts of that asset at that address. The logic is
 * in `AmountAllocations`; the alarm finds amounts whose invoice was never stored.
 */
export class AmountAllocator extends DurableObject<Env> {
  readonly #place: AmountPlace;
  readonly #allocations: AmountAllocations;
  readonly #shown: ShownAmounts;
  readonly #entry: OwnEntry;
  /** When the alarm is due; undefined if no alarm is set. Kept so that the alarm is set again only if it must be earlier. */
  #alarmMs: number | undefined;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const name = ctx.id.name ?? "";
    const place = placeNamed(name);
    if (place === undefined) throw new Error("an object is addressed by its name");
    this.#place = place;
    this.#allocations = new AmountAllocations(ctx.storage, place);
    this.#shown = new ShownAmounts(ctx.storage);
    this.#entry = new OwnEntry(ctx.storage, env, { kind: "AMOUNTS", name, nowMs: () => Date.now() });
    ctx.blockConcurrencyWhile(async () => {
      this.#alarmMs = (await ctx.storage.getAlarm()) ?? undefined;
    });
  }

  async allocate(requests: readonly AmountRequest[]): Promise<readonly AmountAnswer[]> {
    // Runs once per address. No amount is given while the directory or the database does not answer.
    if (!this.#entry.isMade()) await this.#entry.make();
    if (this.#allocations.isNew()) {
      this.#allocations.begin(await readStanding(checkDependencies(this.env), this.#place));
    }
    const answers = this.#allocations.allocate(requests);
    this.#shown.note(requests, answers);
    // Nothing is awaited between the allocation and `setAlarm`, so that the alarm is stored together with the amounts and their terms.
    const wantedMs = this.#nextAlarmMs();
    if (wantedMs !== null && (this.#alarmMs === undefined || wantedMs < this.#alarmMs)) {
      this.#alarmMs = wantedMs;
      await this.ctx.storage.setAlarm(wantedMs);
    }
    return answers;
  }

  release(amounts: readonly InvoiceAmount[], nowMs: number): readonly boolean[] {
    return this.#allocations.release(amounts, nowMs);
  }

  /** The amounts given at or after a time, for the import after a restore of the database. */
  given(since: GivenAmountsSince): GivenAmounts {
    return this.#shown.since(since);
  }

  /** Sets the next alarm before doing anything else, so that a crash cannot end the checks. */
  override async alarm(): Promise<void> {
    const { storage } = this.ctx;
    this.#alarmMs = Date.now() + PAUSE_MS;
    await storage.setAlarm(this.#alarmMs);
    try {
      await checkAmounts(checkDependencies(this.env), this.#place, this.#allocations);
    } catch (error) {
      logAlert("a check of amounts failed", { network: this.#place.network, what: safeMessage(error) });
    }
    const wantedMs = this.#nextAlarmMs();
    this.#alarmMs = wantedMs ?? undefined;
    if (wantedMs === null) await storage.deleteAlarm();
    else await storage.setAlarm(wantedMs);
  }

  /**
   * The time of the next alarm, at least one pause from now. Amounts that are already overdue are left to the alarm that is set, or to the next one.
   */
  #nextAlarmMs(): number | null {
    const nextMs = this.#allocations.nextCheckMs();
    return nextMs === null ? null : Math.max(nextMs, Date.now() + PAUSE_MS);
  }
}
