// One instance of a merchant's object: its memory, and the requests that run in it.
import type { ObjectStorage } from "../../../src/lib/object-storage.ts";
import { type Db, openDb } from "../../../src/platform/db/client.ts";
import type { RequestGroup } from "../../../src/platform/db/request-group.ts";
import { faultKind, withinLimit } from "../../../src/platform/db/retry.ts";
import { KeyReservations, type Keys } from "../../../src/platform/idempotency/key-reservations.ts";
import type { OnceDependencies } from "../../../src/platform/idempotency/run-once.ts";
import type { NewRevocation } from "../../../src/platform/revocations/revocation.ts";
import { RevocationCopies } from "../../../src/platform/revocations/revocation-copies.ts";
import type { Attempt } from "../engine/campaign.ts";
import type { Lab } from "../engine/lab.ts";
import type { Client, World } from "../engine/world.ts";
import { MERCHANT } from "./groups-acts.ts";
import type { Limiter, Queue } from "./groups-objects.ts";
import { InstanceStorage } from "./groups-storage.ts";
import type { Parts } from "./groups-system.ts";
import { notingBatches } from "./groups-tally.ts";
import { type Answer, attemptOf, type Doer, type Request, readFacts, workOf } from "./groups-works.ts";

/** Clock differences between two isolates, in milliseconds. */
export const SKEWS: readonly [number, ...number[]] = [-100, 0, 0, 100];

interface Surroundings {
  readonly lab: Lab;
  readonly name: string;
  readonly isOfReleaseBefore: boolean;
  readonly storage: ObjectStorage;
  readonly limiter: Limiter;
  readonly queue: Queue;
  readonly allocate: (names: readonly string[]) => readonly number[];
}

export class Instance {
  readonly #world: World;
  readonly #parts: Parts;
  readonly #of: Surroundings;
  readonly #client: Client;
  readonly #storage: InstanceStorage;
  readonly #reservations: KeyReservations;
  readonly #deps: OnceDependencies;
  readonly #groups: { request(isPublic: boolean): RequestGroup };
  /** API keys that were used in this instance before. */
  readonly #rights = new Map<string, boolean>();
  readonly #died: Promise<never>;
  readonly #askLimiter: (requests: readonly null[]) => Promise<readonly number[]>;
  readonly #askAllocator: (names: readonly string[]) => Promise<readonly number[]>;
  #running = 0;

  constructor(world: World, parts: Parts, of: Surroundings) {
    const { lab, name, storage, limiter, queue } = of;
    const { promise, reject } = Promise.withResolvers<never>();
    promise.catch(() => {});
    this.#died = promise;
    this.#world = world;
    this.#parts = parts;
    this.#of = of;
    this.#client = world.client(() => {
      world.note(this.#running > 1 ? "the object dies with several requests" : "the object dies with one request");
      if (!parts.keepsKeys) storage.sql.exec("DELETE FROM claims");
      reject(world.newOutage());
    });
    this.#storage = new InstanceStorage(storage, () => world.end(this.#client));
    this.#reservations = new KeyReservations(this.#storage, () => world.newUlid());
    const effect = world.effectOf(this.#client);
    const sleep = world.sleepOf(this.#client);
    const skewMs = world.pick(SKEWS);
    const nowMs = () => world.nowMs + skewMs;
    const wake = (ids: readonly string[]) => void effect("wake", () => queue.take(lab, ids)).catch(() => {});
    this.#groups = parts.groupsOf({ db: notingBatches(lab.db(effect, wake), world), sleep, nowMs });
    this.#askLimiter = (requests) => effect("limiter", () => parts.count(limiter, requests.length));
    this.#askAllocator = (names) => effect("allocate", () => of.allocate(names));
    this.#deps = {
      db: lab.db(effect),
      keys: parts.keysOf(this.#keys(name)),
      nowMs,
      sleep,
      background: () => {},
      newOperationId: () => world.newUlid(),
    };
  }

  get isDead(): boolean {
    return this.#client.isDead;
  }

  get isReplaced(): boolean {
    return this.#storage.isLost;
  }

  /** Must be called when there is a newer instance. */
  lose(message: string, reads: boolean): void {
    this.#storage.lose(message, reads);
  }

  serve(request: Request): Promise<Attempt<Answer>> {
    return Promise.race([this.#died, this.#count(request)]);
  }

  /** The keys for an operation that runs at the edge. */
  ofKeys<T>(ask: (keys: Keys) => Promise<T>): Promise<T> {
    return Promise.race([this.#died, ask(this.#keys(null))]);
  }

  async keep(revocations: readonly NewRevocation[]): Promise<void> {
    if (this.#of.isOfReleaseBefore) {
      this.#world.note("the release before is asked for a copy");
      throw new TypeError('The RPC receiver does not implement the method "keepRevocations".');
    }
    this.#parts.keep(new RevocationCopies(this.#storage), revocations, this.#deps.nowMs());
  }

  #keys(incarnation: string | null): Keys {
    const reservations = this.#reservations;
    return {
      reserve: async (hash, print, nowMs) => reservations.reserve(hash, print, nowMs, incarnation),
      takeOver: async (hash, operationId, nowMs) => {
        const lease = reservations.takeOver(hash, operationId, nowMs, incarnation);
        if (lease.kind === "granted") this.#world.note("an operation is taken over");
        return lease;
      },
      endLease: async (hash, operationId, attempt) => reservations.endLease(hash, operationId, attempt),
      knows: async (hash, nowMs) => reservations.knows(hash, nowMs),
    };
  }

  async #count(request: Request): Promise<Attempt<Answer>> {
    this.#running += 1;
    try {
      return await this.#answer(request);
    } catch (error) {
      if (!request.order.isPoison || !/NOT NULL/.test(String(error))) throw error;
      return { kind: "done", value: { kind: "refused", code: "poison" } };
    } finally {
      this.#running -= 1;
    }
  }

  async #answer(request: Request): Promise<Attempt<Answer>> {
    const { order, print } = request;
    const { key, isKeyless, isPublic, credential } = order;
    const { $client, listeners } = this.#deps.db;
    const deps = { ...this.#deps, db: openDb($client, listeners, this.#groups.request(isPublic)) };
    const { group } = deps.db;
    const doer: Doer = {
      world: this.#world,
      db: deps.db,
      sleep: deps.sleep,
      made: this.#parts.made,
      allocate: async (name) => {
        if (group === undefined) throw new Error("a request without a group");
        if (!name.endsWith(" pick")) return group.ask("allocate", name, this.#askAllocator);
        return group.ask("amounts", name, (names) => withinLimit(deps.sleep, this.#askAllocator(names)));
      },
    };
    // A known caller is counted while the read is pending.
    const early = this.#rights.has(credential) ? this.#limit(deps.db) : undefined;
    const first = await readFacts(doer, request);
    if (!first.ok) return attemptOf(this.#world, order, { kind: "refused", failure: first.error });
    if (!this.#parts.mayUse(this.#rights, credential, first.value.isRevoked === 1))
      return attemptOf(this.#world, order, { kind: "refused", failure: { code: "UNAUTHORIZED" } });
    this.#rights.set(credential, true);
    await (early ?? this.#limit(deps.db));
    const reserved = isKeyless ? undefined : { hash: key, fingerprint: print };
    const answer = await this.#parts.once(
      deps,
      { merchantId: MERCHANT, key: reserved },
      workOf(doer, request, first.value),
    );
    return attemptOf(this.#world, order, answer);
  }

  /** Like every rate limiter, it lets requests pass if it fails. */
  async #limit({ group }: Db): Promise<void> {
    try {
      const number = await group?.ask("take", null, this.#askLimiter, "BESIDE_READ");
      if (number !== undefined) this.#of.limiter.passed.push(number);
    } catch (error) {
      if (faultKind(error) === "other") throw error;
    }
  }
}
