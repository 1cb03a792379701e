import { DurableObject } from "cloudflare:workers";
import { newUlid } from "../../lib/ids.ts";
import { HOUR_MS, SECOND_MS } from "../../lib/time.ts";
import { type Claim, Claims, REMEMBERED_MS, type TakeOver } from "./claims.ts";

/** Keys deleted in one turn; more wait for the next alarm, so that no turn holds up claims. */
const CHUNK = 1_000;
/** Callers bring their own clocks: a key goes only when it is expired by any of them. */
const CLOCK_GRACE_MS = HOUR_MS;

/** One per merchant, named by its id: serialises claims on idempotency keys. The logic is `Claims`. */
export class IdempotencyKeys extends DurableObject<Env> {
  readonly #claims: Claims;
  #isAlarmSet = false;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#claims = new Claims(ctx.storage, (nowMs) => newUlid(nowMs, crypto.getRandomValues(new Uint8Array(16))));
    ctx.blockConcurrencyWhile(async () => {
      this.#isAlarmSet = (await ctx.storage.getAlarm()) !== null;
    });
  }

  claim(keyHash: string, fingerprint: string, nowMs: number): Claim {
    const claim = this.#claims.claim(keyHash, fingerprint, nowMs);
    // Not awaited: the alarm is part of the claim's own commit, and only the first claim of a quiet object pays for it.
    if (claim.kind === "first" && !this.#isAlarmSet) this.#setAlarm(Date.now() + REMEMBERED_MS + CLOCK_GRACE_MS);
    return claim;
  }

  takeOver(keyHash: string, operationId: string, nowMs: number): TakeOver {
    return this.#claims.takeOver(keyHash, operationId, nowMs);
  }

  endLease(keyHash: string, operationId: string, attempt: number): void {
    this.#claims.endLease(keyHash, operationId, attempt);
  }

  override alarm(): void {
    const nowMs = Date.now();
    // First the next alarm, then the work: a throw below must not leave expired keys without one.
    this.#setAlarm(nowMs + HOUR_MS);
    const deleted = this.#claims.deleteExpired(nowMs - CLOCK_GRACE_MS, CHUNK);
    const nextExpiryMs = this.#claims.nextExpiryMs();
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
