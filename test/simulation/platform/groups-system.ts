// A merchant's object for schedules: its instances, two of which may run at once, and the storage and the other objects that they share.
import { type GroupDependencies, Groups } from "../../../src/platform/db/groups.ts";
import type { RequestGroup } from "../../../src/platform/db/request-group.ts";
import { joiningKeys, KeyReservations, type Keys } from "../../../src/platform/idempotency/key-reservations.ts";
import { runOnce } from "../../../src/platform/idempotency/run-once.ts";
import type { NewRevocation } from "../../../src/platform/revocations/revocation.ts";
import { RevocationCopies } from "../../../src/platform/revocations/revocation-copies.ts";
import type { Attempt } from "../engine/campaign.ts";
import type { Lab } from "../engine/lab.ts";
import type { Client, World } from "../engine/world.ts";
import type { Made, Order } from "./groups-acts.ts";
import { Edge } from "./groups-edge.ts";
import { Instance } from "./groups-instance.ts";
import { Allocator, Limiter, Queue } from "./groups-objects.ts";
import { LOST } from "./groups-storage.ts";
import type { Answer, Request } from "./groups-works.ts";

/** The parts of the protocol that a broken variant replaces. */
export interface Parts {
  /** The groups in which one instance of the object runs its requests. */
  groupsOf(deps: GroupDependencies): { request(isPublic: boolean): RequestGroup };
  /** Allocates the address index of an invoice; a repeated call returns the same one. */
  allocate(allocator: Allocator, name: string): number;
  /** The numbers that the limiter gives to the requests of a group, one each. */
  count(limiter: Limiter, requests: number): readonly number[];
  /** Changes what an operation commits. */
  made(made: Made, order: Order): Made;
  /** Whether an instance keeps its idempotency keys in the object's storage. */
  readonly keepsKeys: boolean;
  /** Wraps the stored keys for the requests of one instance. */
  keysOf(stored: Keys): Keys;
  once: typeof runOnce;
  /** Whether an API key may be used; `memory` belongs to the instance. */
  mayUse(memory: Map<string, boolean>, credential: string, isRevoked: boolean): boolean;
  /** Stores a copy of revoked API keys in the object. */
  keep(copies: RevocationCopies, revocations: readonly NewRevocation[], nowMs: number): void;
  /** Called before the batch: waits until the copies are stored. */
  beforeBatch(keeping: Promise<void>): Promise<void>;
}

export const WHOLE: Parts = {
  groupsOf: (deps) => new Groups(deps),
  allocate: (allocator, name) => allocator.allocate(name),
  count: (limiter, requests) => Array.from({ length: requests }, () => limiter.count()),
  made: (made) => made,
  keepsKeys: true,
  keysOf: joiningKeys,
  once: runOnce,
  mayUse: (_, __, isRevoked) => !isRevoked,
  keep: (copies, revocations, nowMs) => copies.keep(revocations, nowMs),
  beforeBatch: (keeping) => keeping,
};

const OBJECT = "the merchant's";
/** The share of requests that reach a replaced instance while that instance still runs. */
const STRAYS = 0.3;

/** The merchant's object and the objects it calls. */
export class System {
  readonly #lab: Lab;
  readonly #parts: Parts;
  readonly #edge: Edge;
  #instances: Instance[] = [];
  #woken = 0;
  limiter = new Limiter();
  queue = new Queue();
  /** The names under which addresses were requested. */
  asked = new Set<string>();

  constructor(lab: Lab, parts: Parts) {
    this.#lab = lab;
    this.#parts = parts;
    this.#edge = new Edge(this, lab, parts);
    // Made once, so that its tables exist in all schedules.
    const storage = lab.storageOf("keys");
    new KeyReservations(storage, () => "");
    new RevocationCopies(storage);
    this.#allocator();
  }

  /** How many instances there have been. */
  get instances(): number {
    return this.#woken;
  }

  /** Resets everything to the state before the first schedule, except what the lab rolls back. */
  reset(): void {
    this.#instances = [];
    this.#woken = 0;
    this.limiter = new Limiter();
    this.queue = new Queue();
    this.asked = new Set();
  }

  ask(world: World, client: Client, request: Request): Promise<Attempt<Answer>> {
    if (request.order.isBeside) return this.#edge.serve(world, client, request);
    let isIn = false;
    return this.call(world, client, "enter the object", (instance) => {
      // A call without a key reaches an instance only once; its sender may repeat one with a key.
      if (isIn && request.order.isKeyless) return new Promise(() => {});
      if (isIn) request.onRepeat();
      isIn = true;
      return instance.serve(request);
    });
  }

  /** Calls an instance of the object. A crash of the caller meanwhile does not affect the object. */
  call<T>(world: World, client: Client, point: string, work: (instance: Instance) => Promise<T>): Promise<T> {
    return world
      .effectOf(client)(point, () => {
        const answer = work(this.#instance(world));
        // If the caller has crashed, nothing else handles a rejection.
        answer.catch(() => {});
        return answer;
      })
      .then(
        (answer) =>
          new Promise<T>((resolve, reject) => {
            if (!client.isDead) Promise.resolve(answer).then(resolve, reject);
          }),
      );
  }

  allocate(world: World, names: readonly string[]): readonly number[] {
    return names.map((name) => {
      if (this.asked.has(name)) world.note("an index is asked for again");
      this.asked.add(name);
      return this.#parts.allocate(this.#allocator(), name);
    });
  }

  /** The object's code is updated: its next call reaches a new instance. */
  update(): void {
    this.#lab.evict(OBJECT);
  }

  /** A replaced instance finishes what it started, and a request may still reach it. */
  #instance(world: World): Instance {
    const living = this.#instances.filter(({ isDead }) => !isDead);
    const instance = this.#lab.memory(OBJECT, () => this.#wake(world, living));
    if (instance.isDead) {
      this.#lab.evict(OBJECT);
      return this.#instance(world);
    }
    const stray = living.find((each) => each !== instance);
    if (stray === undefined || world.random() >= STRAYS) return instance;
    world.note("a request comes to an instance that was replaced");
    return stray;
  }

  #allocator(): Allocator {
    return this.#lab.object("allocator", (storage) => new Allocator(storage));
  }

  #wake(world: World, living: readonly Instance[]): Instance {
    for (const each of living.filter(({ isReplaced }) => !isReplaced)) {
      const reads = world.random() < 0.5;
      world.note(reads ? "an instance is replaced and still reads" : "an instance is replaced and loses its storage");
      each.lose(world.pick(LOST), reads);
    }
    this.#woken += 1;
    const { limiter, queue } = this;
    const instance = new Instance(world, this.#parts, {
      lab: this.#lab,
      storage: this.#lab.storageOf("keys"),
      limiter,
      queue,
      name: `instance ${this.#woken}`,
      // The first instance may run the previous release.
      isOfReleaseBefore: this.#woken === 1 && world.random() < 0.2,
      allocate: (names) => this.allocate(world, names),
    });
    this.#instances = [...living, instance];
    return instance;
  }
}
