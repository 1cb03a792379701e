// The object of a merchant for schedules: one instance after the other, each with its memory, before the storage and the objects of all.
import { sql } from "drizzle-orm";
import { derivedId, type MerchantId, makeId } from "../../../src/lib/ids.ts";
import { readTogether } from "../../../src/platform/db/batch.ts";
import { type Db, withGroup, withNews } from "../../../src/platform/db/client.ts";
import { throwUnlessContention } from "../../../src/platform/db/conflict.ts";
import { type GroupDependencies, Groups } from "../../../src/platform/db/groups.ts";
import { preparedInsert, preparedLookup } from "../../../src/platform/db/prepared-statement.ts";
import type { RequestGroup } from "../../../src/platform/db/request-group.ts";
import { faultKind, readWithRetry } from "../../../src/platform/db/retry.ts";
import { customers } from "../../../src/platform/db/schema/customers.ts";
import { events } from "../../../src/platform/db/schema/events.ts";
import { joiningKeys, KeyReservations, type Keys } from "../../../src/platform/idempotency/key-reservations.ts";
import { type OnceDependencies, runOnce, type Work } from "../../../src/platform/idempotency/run-once.ts";
import type { Attempt } from "../engine/campaign.ts";
import type { Lab } from "../engine/lab.ts";
import type { Client, World } from "../engine/world.ts";
import { Allocator, Limiter, Queue } from "./groups-objects.ts";
import { notingBatches } from "./groups-tally.ts";

const MERCHANT: MerchantId = "mer_00000000000000000000000000";

const insertEvent = preparedInsert(events);
const insertCustomer = preparedInsert(customers);
const selectCustomer = preparedLookup(
  (email: string) => ({ email }),
  (db, of) =>
    db
      .select({
        at: sql<number>`asked.key`.as("at"),
        id: sql<`cus_${string}` | null>`(select id from customers
          where merchant_id = ${sql.raw(`'${MERCHANT}'`)} and email_key = asked.value->>'email')`.as("customer_id"),
      })
      .from(sql`json_each(${of.items}) asked`),
);

/** The parts of the protocol that a broken variant replaces. */
export interface Parts {
  /** The storage of the requests of one instance of the object. */
  groupsOf(deps: GroupDependencies): { request(isPublic: boolean): RequestGroup };
  /** The index of an invoice's address: always the same one. */
  allocate(allocator: Allocator, invoiceId: string): number;
  /** The number of each request of a group that the limiter counts. */
  count(limiter: Limiter, requests: number): readonly number[];
  /** What a change inserts and at most one may insert. */
  subjectsOf(email: string): readonly string[];
  /** Whether the idempotency keys of an instance are in the object's storage. */
  readonly keepsKeys: boolean;
}

export const WHOLE: Parts = {
  groupsOf: (deps) => new Groups(deps),
  allocate: (allocator, invoiceId) => allocator.allocate(invoiceId),
  count: (limiter, requests) => Array.from({ length: requests }, () => limiter.count()),
  subjectsOf: (email) => [`customer ${email}`],
  keepsKeys: true,
};

export interface Order {
  readonly key: string;
  /** How many clients send it. */
  readonly clients: number;
  readonly email: string;
  readonly isPoison: boolean;
  readonly isPublic: boolean;
}

/** The merchant's object and those that it asks. */
export class House {
  readonly #lab: Lab;
  readonly #parts: Parts;
  #instances = 0;
  limiter = new Limiter();
  queue = new Queue();
  /** The keys that browsers send. */
  readonly publicKeys = new Set<string>();

  constructor(lab: Lab, parts: Parts) {
    this.#lab = lab;
    this.#parts = parts;
    this.#reservations();
    this.#allocator();
  }

  /** Everything as before the first schedule, but for what the lab rolls back. */
  reset(): void {
    this.#instances = 0;
    this.limiter = new Limiter();
    this.queue = new Queue();
    this.publicKeys.clear();
  }

  ask(world: World, client: Client, order: Order): Promise<Attempt<string>> {
    if (order.isPublic) this.publicKeys.add(order.key);
    // The answer of an object is a promise; a caller that dies meanwhile changes nothing for the object.
    return world
      .effectOf(client)("enter the object", () => this.#instance(world).serve(order))
      .then(
        (answer) =>
          new Promise<Attempt<string>>((resolve, reject) => {
            if (!client.isDead) Promise.resolve(answer).then(resolve, reject);
          }),
      );
  }

  /**
   * An evicted instance still runs what it has begun, beside the next one: with the platform an instance may live on for a moment after it was
   * replaced.
   */
  #instance(world: World): Instance {
    const instance = this.#lab.memory("the merchant's", () => this.#wake(world));
    if (!instance.isDead) return instance;
    this.#lab.evict("the merchant's");
    return this.#instance(world);
  }

  #reservations(): KeyReservations {
    return this.#lab.object("keys", (storage) => new KeyReservations(storage, () => this.#lab.world.newUlid()));
  }

  #allocator(): Allocator {
    return this.#lab.object("allocator", (storage) => new Allocator(storage));
  }

  #wake(world: World): Instance {
    this.#instances += 1;
    const name = `instance ${this.#instances}`;
    const reservations = () => this.#reservations();
    return new Instance(world, this.#parts, {
      lab: this.#lab,
      onDeath: () => {
        if (!this.#parts.keepsKeys) this.#lab.storageOf("keys").sql.exec("DELETE FROM claims");
      },
      limiter: this.limiter,
      queue: this.queue,
      isPublic: (key) => this.publicKeys.has(key),
      allocator: () => this.#allocator(),
      keys: {
        reserve: async (hash, print, nowMs) => reservations().reserve(hash, print, nowMs, name),
        takeOver: async (hash, operationId, nowMs) => {
          const lease = reservations().takeOver(hash, operationId, nowMs, name);
          if (lease.kind === "granted") world.note("an operation is taken over");
          return lease;
        },
        endLease: async (hash, operationId, attempt) => reservations().endLease(hash, operationId, attempt),
      },
    });
  }
}

interface Surroundings {
  readonly lab: Lab;
  readonly onDeath: () => void;
  readonly limiter: Limiter;
  readonly queue: Queue;
  readonly isPublic: (key: string) => boolean;
  readonly allocator: () => Allocator;
  readonly keys: Keys;
}

class Instance {
  readonly #world: World;
  readonly #client: Client;
  readonly #deps: OnceDependencies;
  readonly #dbOf: (isPublic: boolean) => Db;
  readonly #subjectsOf: Parts["subjectsOf"];
  readonly #limiter: Limiter;
  readonly #askLimiter: (requests: readonly null[]) => Promise<readonly number[]>;
  readonly #askAllocator: (invoiceIds: readonly string[]) => Promise<readonly number[]>;
  readonly #died: Promise<never>;
  #running = 0;

  constructor(world: World, parts: Parts, of: Surroundings) {
    const { lab, onDeath, allocator, keys, limiter, queue, isPublic } = of;
    const { promise, reject } = Promise.withResolvers<never>();
    promise.catch(() => {});
    this.#died = promise;
    this.#world = world;
    this.#limiter = limiter;
    this.#client = world.client(() => {
      world.note(this.#running > 1 ? "the object dies with several requests" : "the object dies with one request");
      onDeath();
      reject(new Error("Network connection lost."));
    });
    const effect = world.effectOf(this.#client);
    const sleep = world.sleepOf(this.#client);
    const nowMs = () => world.nowMs;
    const wake = (ids: readonly string[]) => void effect("wake", () => queue.take(lab, ids)).catch(() => {});
    const groups = parts.groupsOf({ db: notingBatches(lab.db(effect, wake), world, isPublic), sleep, nowMs });
    this.#subjectsOf = parts.subjectsOf;
    const db = lab.db(effect);
    this.#dbOf = (isPublic) => withGroup(db, groups.request(isPublic));
    this.#askLimiter = (requests) => effect("limiter", () => parts.count(limiter, requests.length));
    this.#askAllocator = (invoiceIds) =>
      effect("allocate", () => {
        if (invoiceIds.some((id) => allocator().find(id) !== undefined)) world.note("an index is asked for again");
        return invoiceIds.map((id) => parts.allocate(allocator(), id));
      });
    this.#deps = {
      ...{ db, keys: joiningKeys(keys), nowMs, sleep },
      ...{ background: () => {}, newOperationId: () => world.newUlid() },
    };
  }

  get isDead(): boolean {
    return this.#client.isDead;
  }

  serve(order: Order): Promise<Attempt<string>> {
    const answer = Promise.race([this.#died, this.#count(order)]);
    // Its caller may be gone.
    answer.catch(() => {});
    return answer;
  }

  async #count(order: Order): Promise<Attempt<string>> {
    this.#running += 1;
    try {
      return await this.#create(order);
    } finally {
      this.#running -= 1;
    }
  }

  async #create(order: Order): Promise<Attempt<string>> {
    const deps = { ...this.#deps, db: this.#dbOf(order.isPublic) };
    const read = () => readWithRetry(deps.sleep, () => readTogether(deps.db, [selectCustomer(deps.db, order.email)]));
    const first = await read();
    if (!first.ok) return { kind: "again", afterMs: 1_000 };
    await this.#limit(deps.db);
    const work: Work = async (operationId, conflict, tries) => {
      throwUnlessContention("a create", conflict);
      if (conflict !== undefined) this.#world.note(`a change is decided again after ${conflict.kind}`);
      const known = tries === 0 ? first : await read();
      if (!known.ok) return { kind: "refused", failure: known.error };
      const invoiceId = makeId("inv", operationId);
      const index = await deps.db.group?.ask("allocate", invoiceId, this.#askAllocator);
      if (index === undefined) throw new Error("a request without a group");
      const [[customer] = []] = known.value;
      const statements = this.#statements(deps.db, { order, operationId, index, known: customer?.id ?? undefined });
      return { ...statements, kind: "ready" };
    };
    try {
      const request = { merchantId: MERCHANT, key: { hash: order.key, fingerprint: "v1" } };
      const answer = await runOnce(deps, request, work);
      if (answer.kind === "answer") {
        if (answer.isReplay) this.#world.note("an answer is replayed");
        return { kind: "done", value: answer.body };
      }
      this.#world.note(`a request is refused: ${answer.failure.code}`);
      const waits = answer.failure.code === "OPERATION_IN_PROGRESS" ? answer.failure.retryAfterSeconds : 1;
      return { kind: "again", afterMs: waits * 1_000 };
    } catch (error) {
      if (order.isPoison && /NOT NULL/.test(String(error))) return { kind: "done", value: "refused as poison" };
      throw error;
    }
  }

  /** As every limiter: one that fails lets requests pass. */
  async #limit({ group }: Db): Promise<void> {
    try {
      const number = await group?.ask("limiter", null, this.#askLimiter);
      if (number !== undefined) this.#limiter.passed.push(number);
    } catch (error) {
      if (faultKind(error) === "other") throw error;
    }
  }

  #statements(db: Db, of: { order: Order; operationId: string; index: number; known: `cus_${string}` | undefined }) {
    const { order, operationId, index, known } = of;
    const customerId = known ?? derivedId("cus", operationId);
    const body = JSON.stringify({ key: order.key, customerId, index });
    const invoiceId = makeId("inv", operationId);
    const event = insertEvent(db, {
      ...{ id: derivedId("evt", operationId), merchantId: MERCHANT, type: "invoice.created", sequence: 1 },
      ...{ invoiceId, createdAtMs: 0, headSequence: null, headLength: null },
      // A row that the database refuses.
      data: order.isPoison ? (null as unknown as string) : body,
    });
    const customer = insertCustomer(db, {
      ...{ id: customerId, merchantId: MERCHANT, email: order.email, emailKey: order.email },
      ...{ name: null, address: null, phoneNumber: null, metadata: null },
      ...{ createdAtMs: 0, updatedAtMs: 0, deletedAtMs: null, searchText: null, indexedAtMs: null },
    });
    const told = withNews(event, () => ({ wake: [invoiceId] }));
    return {
      ...{ status: 201, body },
      statements: known === undefined ? [customer, told] : [told],
      subjects: known === undefined ? this.#subjectsOf(order.email) : [],
    };
  }
}
