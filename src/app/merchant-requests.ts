// The requests that run inside the object of their merchant: how many may wait, and what they share.
import { lazily } from "../lib/lazily.ts";
import { err } from "../lib/result.ts";
import { requestSleep, type Sleep } from "../lib/sleep.ts";
import { type Db, openWakingDb, withGroup } from "../platform/db/client.ts";
import { databaseOf } from "../platform/db/databases.ts";
import { Groups } from "../platform/db/groups.ts";
import type { Failure } from "../platform/failures.ts";
import { failureOf } from "../platform/http/context.ts";
import type { HandedBack, HandedOver } from "../platform/http/handed-over.ts";
import { joiningKeys, type Keys } from "../platform/idempotency/key-reservations.ts";
import { routesInObject } from "./app.ts";

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
  readonly #storage: () => { readonly db: Db; readonly groups: Groups; readonly sleep: Sleep };
  readonly #keys: Keys;
  #requests = 0;
  #publicRequests = 0;
  #bytes = 0;

  constructor(options: MerchantRequestsOptions) {
    this.#options = options;
    const { env, merchantId, background, keys } = options;
    this.#keys = joiningKeys(keys);
    this.#storage = lazily(() => {
      const db = openWakingDb(databaseOf(env, merchantId), env, background);
      // One timer for all storage calls of all requests.
      const sleep = requestSleep();
      return { db, sleep, groups: new Groups({ db, sleep, nowMs: () => Date.now() }) };
    });
  }

  /** The answer of the request's route. Refuses STORAGE_UNAVAILABLE if too many requests are under way. */
  async answer(handed: HandedOver): Promise<HandedBack> {
    const { isPublic, bytes } = handed;
    if (this.#isFull(isPublic, bytes)) return refused({ code: "STORAGE_UNAVAILABLE" });
    this.#count(isPublic, bytes, 1);
    try {
      return await this.#run(handed);
    } catch (error) {
      return refused(failureOf(error, { requestId: handed.requestId, route: handed.operationId }));
    } finally {
      this.#count(isPublic, bytes, -1);
    }
  }

  #run(handed: HandedOver): Promise<HandedBack> {
    const { env, background } = this.#options;
    const { operationId, requestId, path, params, headers, isPublic } = handed;
    const handle = routesInObject().get(operationId);
    if (handle === undefined) throw new Error(`${operationId} does not run in the object of a merchant`);
    const { db, groups, sleep } = this.#storage();
    const incoming = {
      ...{ env, requestId, path, params, background },
      nowMs: Date.now(),
      ip: handed.ip ?? undefined,
      header: (name: string) => headers[name],
      merchantContext: { keys: this.#keys, storage: { db: withGroup(db, groups.request(isPublic)), sleep } },
    };
    return handle(incoming, handed);
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

function refused(failure: Failure): HandedBack {
  return { result: err(failure), headers: {} };
}
