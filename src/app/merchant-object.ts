import { DurableObject } from "cloudflare:workers";
import { newUlid } from "../lib/ids.ts";
import { unattended } from "../lib/log.ts";
import { HOUR_MS, SECOND_MS } from "../lib/time.ts";
import { OwnEntry } from "../platform/directory/own-entry.ts";
import type { HandedBack, HandedOver, MerchantObjectRpc } from "../platform/http/handed-over.ts";
import {
  type KeyReservation,
  KeyReservations,
  REMEMBERED_MS,
  type TakeOver,
} from "../platform/idempotency/key-reservations.ts";
import type { KeptRevocation, NewRevocation } from "../platform/revocations/revocation.ts";
import { RevocationCopies } from "../platform/revocations/revocation-copies.ts";
import { MerchantRequests } from "./merchant-requests.ts";

/** At most this many keys are deleted by one alarm. The rest wait for the next alarm, so that an alarm never delays requests. */
const CHUNK = 1_000;
/** Callers use their own clocks, so a key is deleted only an hour after it has expired by this object's clock. */
const CLOCK_GRACE_MS = HOUR_MS;

const freshUlid = (nowMs: number) => newUlid(nowMs, crypto.getRandomValues(new Uint8Array(16)));

/**
 * One object per merchant, with the merchant's id as its name (for routes without a merchant: one per user). Holds the idempotency keys and copies of
 * revocations, and runs the requests that create invoices, so that concurrent requests share their storage calls.
 */
export class MerchantObject extends DurableObject<Env> implements MerchantObjectRpc {
  readonly #reservations: KeyReservations;
  readonly #requests: MerchantRequests;
  readonly #revocations: RevocationCopies;
  readonly #entry: OwnEntry;
  #isAlarmSet = false;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#reservations = new KeyReservations(ctx.storage, freshUlid);
    this.#revocations = new RevocationCopies(ctx.storage);
    // Never empty: our code opens objects only by name.
    const name = ctx.id.name ?? "";
    this.#entry = new OwnEntry(ctx.storage, env, { kind: "MERCHANTS", name, nowMs: () => Date.now() });
    // A lease ends with the object's incarnation: the next incarnation takes over the operations that this one started.
    const incarnation = freshUlid(Date.now());
    this.#requests = new MerchantRequests({
      env,
      merchantId: name,
      background: (work) => ctx.waitUntil(unattended(work)),
      keys: {
        reserve: async (hash, print, nowMs) => this.#reserve(hash, print, nowMs, incarnation),
        takeOver: async (hash, operationId, nowMs) =>
          this.#reservations.takeOver(hash, operationId, nowMs, incarnation),
        endLease: async (hash, operationId, attempt) => this.endLease(hash, operationId, attempt),
        knows: async (hash, nowMs) => this.knows(hash, nowMs),
      },
    });
    ctx.blockConcurrencyWhile(async () => {
      this.#isAlarmSet = (await ctx.storage.getAlarm()) !== null;
    });
  }

  /** A request of the merchant that the Worker at the edge has admitted (platform/http/handed-over.ts). */
  async answer(handed: HandedOver): Promise<HandedBack> {
    if (!this.#entry.isMade()) await this.#entry.make();
    return this.#requests.answer(handed);
  }

  async reserve(keyHash: string, fingerprint: string, nowMs: number): Promise<KeyReservation> {
    if (!this.#entry.isMade()) await this.#entry.make();
    return this.#reserve(keyHash, fingerprint, nowMs, null);
  }

  takeOver(keyHash: string, operationId: string, nowMs: number): TakeOver {
    return this.#reservations.takeOver(keyHash, operationId, nowMs, null);
  }

  endLease(keyHash: string, operationId: string, attempt: number): void {
    this.#reservations.endLease(keyHash, operationId, attempt);
  }

  knows(keyHash: string, nowMs: number): boolean {
    return this.#reservations.knows(keyHash, nowMs);
  }

  /** Keeps copies of revocations, before the batch with the revocations is sent; the copies are stored once this returns. */
  async keepRevocations(revocations: readonly NewRevocation[], nowMs: number): Promise<void> {
    if (!this.#entry.isMade()) await this.#entry.make();
    this.#revocations.keep(revocations, nowMs);
  }

  /** The copies kept since `sinceMs`, for the import after a restore of the database. */
  revocationsSince(sinceMs: number, after: number, limit: number): readonly KeptRevocation[] {
    return this.#revocations.since(sinceMs, { after, limit });
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

  #reserve(keyHash: string, fingerprint: string, nowMs: number, incarnation: string | null): KeyReservation {
    const reservation = this.#reservations.reserve(keyHash, fingerprint, nowMs, incarnation);
    // Not awaited: the alarm commits together with the key, and only the first key of an idle object sets it.
    if (reservation.kind === "first" && !this.#isAlarmSet) this.#setAlarm(Date.now() + REMEMBERED_MS + CLOCK_GRACE_MS);
    return reservation;
  }

  #setAlarm(atMs: number): void {
    this.#isAlarmSet = true;
    this.ctx.storage.setAlarm(atMs);
  }
}
