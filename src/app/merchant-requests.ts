// The requests that run inside the object of their merchant: how many may wait, and what they share.
import { lazily } from "../lib/lazily.ts";
import { sleep } from "../lib/sleep.ts";
import { openWakingDb } from "../platform/db/client.ts";
import { databaseOf } from "../platform/db/databases.ts";
import { Groups } from "../platform/db/groups.ts";
import { failureResponse } from "../platform/http/errors.ts";
import { handedOver } from "../platform/http/merchant-context.ts";
import { joiningKeys, type Keys } from "../platform/idempotency/key-reservations.ts";
import { app } from "./app.ts";

/** Most requests under way, and most bytes of their bodies. More are refused before they have reserved anything. */
const MOST_REQUESTS = 1_000;
const MOST_BYTES = 8 * 1_024 * 1_024;
/** Most requests under way that browsers may send: a quarter. */
const MOST_PUBLIC = MOST_REQUESTS / 4;

export interface MerchantRequestsOptions {
  readonly env: Env;
  readonly merchantId: string;
  /** Runs work after the response; the work may be lost. Must not reject. */
  readonly background: (work: Promise<unknown>) => void;
  readonly keys: Keys;
}

export class MerchantRequests {
  readonly #options: MerchantRequestsOptions;
  readonly #groups: () => Groups;
  readonly #keys: Keys;
  #requests = 0;
  #publicRequests = 0;
  #bytes = 0;

  constructor(options: MerchantRequestsOptions) {
    this.#options = options;
    const { env, merchantId, background, keys } = options;
    this.#keys = joiningKeys(keys);
    const db = () => openWakingDb(databaseOf(env, merchantId), env, background);
    this.#groups = lazily(() => new Groups({ db: db(), sleep, nowMs: () => Date.now() }));
  }

  /** The response of the request's route. Refuses STORAGE_UNAVAILABLE if too many requests are under way. */
  async answer(request: Request): Promise<Response> {
    const { requestId, ip, isPublic, bytes } = handedOver(request);
    if (this.#isFull(isPublic, bytes)) return failureResponse({ code: "STORAGE_UNAVAILABLE" }, requestId);
    const { env, background } = this.#options;
    const merchantContext = { requestId, ip, keys: this.#keys, group: this.#groups().request(isPublic) };
    this.#count(isPublic, bytes, 1);
    try {
      const context = { waitUntil: background, passThroughOnException: () => {}, props: {} };
      return await app().fetch(request, { ...env, merchantContext }, context);
    } finally {
      this.#count(isPublic, bytes, -1);
    }
  }

  #isFull(isPublic: boolean, bytes: number): boolean {
    if (isPublic && this.#publicRequests >= MOST_PUBLIC) return true;
    return this.#requests >= MOST_REQUESTS || this.#bytes + bytes > MOST_BYTES;
  }

  #count(isPublic: boolean, bytes: number, by: 1 | -1): void {
    this.#requests += by;
    this.#bytes += by * bytes;
    if (isPublic) this.#publicRequests += by;
  }
}
