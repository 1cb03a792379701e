// The requests that run inside the object of their merchant: how many may run at once, and what they share.
import { lazily } from "../lib/lazily.ts";
import { err } from "../lib/result.ts";
import { requestSleep, type Sleep } from "../lib/sleep.ts";
import { type Db, openDb, openWakingDb } from "../platform/db/client.ts";
import { databaseOf } from "../platform/db/databases.ts";
import { Groups } from "../platform/db/groups.ts";
import { Meter } from "../platform/db/meter.ts";
import { OVERLOADED } from "../platform/db/retry.ts";
import { inTime } from "../platform/db/unanswered.ts";
import { withOrigin } from "../platform/deployment/read-deployment.ts";
import type { Failure } from "../platform/failures.ts";
import { failureOf } from "../platform/http/context.ts";
import { CountedCallers } from "../platform/http/counted-callers.ts";
import type { HandedBack, HandedOver } from "../platform/http/handed-over.ts";
import { joiningKeys, type Keys } from "../platform/idempotency/key-reservations.ts";
import { routesInObject } from "./app.ts";

/** The maximum number of requests in progress, and of bytes in their bodies. Requests beyond that are refused before they reserve anything. */
const MOST: Load = { requests: 1_000, bytes: 8 * 1_024 * 1_024 };
/** The same limits for requests from browsers: a quarter. */
const MOST_PUBLIC: Load = { requests: MOST.requests / 4, bytes: MOST.bytes / 4 };

interface Load {
  readonly requests: number;
  readonly bytes: number;
}

/** The requests in progress: all, or only those from browsers. */
class UnderWay {
  readonly #most: Load;
  #requests = 0;
  #bytes = 0;

  constructor(most: Load) {
    this.#most = most;
  }

  hasRoom(bytes: number): boolean {
    return this.#requests < this.#most.requests && this.#bytes + bytes <= this.#most.bytes;
  }

  begin(bytes: number): void {
    this.#requests += 1;
    this.#bytes += bytes;
  }

  end(bytes: number): void {
    this.#requests -= 1;
    this.#bytes -= bytes;
  }
}

interface MerchantRequestsOptions {
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
  readonly #countedCallers = new CountedCallers();
  readonly #all = new UnderWay(MOST);
  readonly #public = new UnderWay(MOST_PUBLIC);

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

  /** The answer of the request's route. Fails with STORAGE_UNAVAILABLE if too many requests are in progress or have waited too long. */
  async answer(handed: HandedOver): Promise<HandedBack> {
    const { isPublic, bytes } = handed;
    const sinceMs = Date.now();
    const counts = isPublic ? [this.#all, this.#public] : [this.#all];
    if (this.#storage().groups.isBehind(isPublic) || !counts.every((count) => count.hasRoom(bytes)))
      return refused(OVERLOADED);
    for (const count of counts) count.begin(bytes);
    const work = this.#run(handed)
      .catch((error) => refused(failureOf(error, { requestId: handed.requestId, route: handed.operationId })))
      .finally(() => {
        for (const count of counts) count.end(bytes);
      });
    const { db, sleep } = this.#storage();
    const { background } = this.#options;
    return inTime({ d1: db.$client, sleep, background, sinceMs }, work, refused);
  }

  async #run(handed: HandedOver): Promise<HandedBack> {
    const { merchantId, background } = this.#options;
    const { operationId, requestId, path, params, headers, isPublic } = handed;
    const handle = routesInObject().get(operationId);
    if (handle === undefined) throw new Error(`${operationId} does not run in the object of a merchant`);
    const { db, groups, sleep } = this.#storage();
    const nowMs = Date.now();
    const meter = new Meter();
    const known = await withOrigin(this.#options.env, { nowMs, sleep });
    if (!known.ok) return refused(known.error);
    const { restoreEpoch = known.value.RESTORE_EPOCH } = handed;
    const incoming = {
      env: { ...known.value, RESTORE_EPOCH: restoreEpoch },
      requestId,
      path,
      params,
      background,
      nowMs,
      meter,
      ip: handed.ip ?? undefined,
      header: (name: string) => headers[name],
      merchantContext: {
        merchantId,
        keys: this.#keys,
        countedCallers: this.#countedCallers,
        storage: { db: openDb(db.$client, db.listeners, groups.request(isPublic, meter), meter), sleep },
      },
    };
    const answered = await handle(incoming, handed);
    return { ...answered, cost: meter.cost };
  }
}

function refused(failure: Failure): HandedBack {
  return { result: err(failure), headers: {} };
}
