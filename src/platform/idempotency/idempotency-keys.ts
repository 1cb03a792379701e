import { DurableObject } from "cloudflare:workers";
import { newUlid } from "../../lib/ids.ts";
import { HOUR_MS, SECOND_MS } from "../../lib/time.ts";
import { type KeyReservation, KeyReservations, REMEMBERED_MS, type TakeOver } from "./key-reservations.ts";

/** Keys deleted in one turn. More wait for the next alarm, so that a turn never delays requests. */
const CHUNK = 1_000;
/** Callers use their own clocks. A key is deleted only once it has expired by all of them. */
const CLOCK_GRACE_MS = HOUR_MS;

/** One object per merchant, with the merchant's id as its name. Serialises reservations of idempotency keys; `KeyReservations` has the logic. */
export class IdempotencyKeys extends DurableObject<Env> {
  readonly #reservations: KeyReservations;
  #isAlarmSet = false;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#reservations = new KeyReservations(ctx.storage, (nowMs) =>
      newUlid(nowMs, crypto.getRandomValues(new Uint8Array(16))),
    );
    ctx.blockConcurrencyWhile(async () => {
      this.#isAlarmSet = (await ctx.storage.getAlarm()) !== null;
    });
  }

  reserve(keyHash: string, fingerprint: string, nowMs: number): KeyReservation {
    const reservation = this.#reservations.reserve(keyHash, fingerprint, nowMs);
    // Not awaited: the alarm commits together with the key, and only the first key of an idle object sets it.
    if (reservation.kind === "first" && !this.#isAlarmSet) this.#setAlarm(Date.now() + REMEMBERED_MS + CLOCK_GRACE_MS);
    return reservation;
  }

  takeOver(keyHash: string, operationId: string, nowMs: number): TakeOver {
    return this.#reservations.takeOver(keyHash, operationId, nowMs);
  }

  endLease(keyHash: string, operationId: string, attempt: number): void {
    this.#reservations.endLease(keyHash, operationId, attempt);
  }

  override alarm(): void {
    const nowMs = Date.now();
    // Sets the next alarm before the work, so that an error below does not leave expired keys without an alarm.
    this.#setAlarm(nowMs + HOUR_MS);
    const deleted = this.#reservations.deleteExpired(nowMs - CLOCK_GRACE_MS, CHUNK);
    const nextExpiryMs = this.#reservations.nextExpiryMs();
    if (nextExpiryMs === undefined) {
      this.#isAlarmSet = false;
      this.ctx.storage.deleteAlarm();
    } else if (deleted === CHUNK) {
      this.#setAlarm(nowMs + SECOND_MS);
    } else {
      this.#setAlarm(Math.max(nextExpiryMs + CLOCK_GRACE_MS, nowMs + HOUR_MS));
    }
  }

  #setAlarm(atMs: number): void {
    this.#isAlarmSet = true;
    this.ctx.storage.setAlarm(atMs);
  }
}
