// A merchant's object for schedules: its instances, two of which may run at once, in front of the shared storage and objects.
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
  /** The storage for requests in one instance of the object. */
  groupsOf(deps: GroupDependencies): { request(isPublic: boolean): RequestGroup };
  /** The index of an invoice's address: always the same. */
  allocate(allocator: Allocator, name: string): number;
  /** The number the limiter gives to each request of a group. */
  count(limiter: Limiter, requests: number): readonly number[];
  /** What an operation commits. */
  made(made: Made, order: Order): Made;
  /** Whether an instance's idempotency keys are in the object's storage. */
  readonly keepsKeys: boolean;
  /** The keys as the requests in one instance use them. */
  keysOf(stored: Keys): Keys;
  once: typeof runOnce;
  /** Whether a key may be used; `memory` is the instance's. */
  mayUse(memory: Map<string, boolean>, credential: string, isRevoked: boolean): boolean;
  /** Keeps a copy of revoked keys. */
  keep(copies: RevocationCopies, revocations: readonly NewRevocation[], nowMs: number): void;
  /** Has the copies stored before the batch. */
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
/** How often a request reaches a replaced instance while that one lives. */
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
  /** Owners of addresses, by the name they asked with. */
  asked = new Set<string>();

  constructor(lab: Lab, parts: Parts) {
    this.#lab = lab;
    this.#parts = parts;
    this.#edge = new Edge(this, lab, parts);
    // Its tables exist for all schedules.
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
      // A call arrives once. One with a key may be repeated by its sender.
      if (isIn && request.order.isKeyless) return new Promise(() => {});
      if (isIn) request.onRepeat();
      isIn = true;
      return instance.serve(request);
    });
  }

  /** Calls an instance of the object. A caller that dies meanwhile changes nothing for the object. */
  call<T>(world: World, client: Client, point: string, work: (instance: Instance) => Promise<T>): Promise<T> {
    return world
      .effectOf(client)(point, () => {
        const answer = work(this.#instance(world));
        // Its caller may be gone.
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
      // The first one may predate the deployment.
      isOfReleaseBefore: this.#woken === 1 && world.random() < 0.2,
      allocate: (names) => this.allocate(world, names),
    });
    this.#instances = [...living, instance];
    return instance;
  }
}
