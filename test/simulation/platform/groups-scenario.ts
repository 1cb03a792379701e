// Requests of one merchant in its object, where they share their storage calls: up to 64 keys with two clients each. Some requests are of one
// customer, and some have a row that the database refuses. The object, its callers, the database and the allocator fail at every call.
import { and, eq } from "drizzle-orm";
import { derivedId, type MerchantId, makeId } from "../../../src/lib/ids.ts";
import type { ObjectStorage } from "../../../src/lib/object-storage.ts";
import { readTogether } from "../../../src/platform/db/batch.ts";
import type { Db } from "../../../src/platform/db/client.ts";
import { throwUnlessContention } from "../../../src/platform/db/conflict.ts";
import { type GroupDependencies, Groups } from "../../../src/platform/db/groups.ts";
import { preparedInsert } from "../../../src/platform/db/prepared-statement.ts";
import type { RequestGroup } from "../../../src/platform/db/request-group.ts";
import { faultKind, readWithRetry } from "../../../src/platform/db/retry.ts";
import { customers } from "../../../src/platform/db/schema/customers.ts";
import { events } from "../../../src/platform/db/schema/events.ts";
import { joiningKeys, KeyReservations, type Keys } from "../../../src/platform/idempotency/key-reservations.ts";
import { type OnceDependencies, runOnce, type Work } from "../../../src/platform/idempotency/run-once.ts";
import { type Attempt, insist, type Scenario } from "../engine/campaign.ts";
import type { Lab } from "../engine/lab.ts";
import type { Client, Verdict, World } from "../engine/world.ts";

const MERCHANT: MerchantId = "mer_00000000000000000000000000";
const CLIENTS_PER_KEY = 2;

const insertEvent = preparedInsert(events);
const insertCustomer = preparedInsert(customers);

/** The parts of the protocol that a broken variant replaces. */
export interface Parts {
  /** The storage of the requests of one instance of the object. */
  groupsOf(deps: GroupDependencies): { request(isPublic: boolean): RequestGroup };
  /** The index of an invoice's address: always the same one. */
  allocate(allocator: Allocator, invoiceId: string): number;
  /** Whether the idempotency keys of an instance are in the object's storage. */
  readonly keepsKeys: boolean;
}

export const WHOLE: Parts = {
  groupsOf: (deps) => new Groups(deps),
  allocate: (allocator, invoiceId) => allocator.allocate(invoiceId),
  keepsKeys: true,
};

export class Allocator {
  readonly #sql: ObjectStorage["sql"];

  constructor(storage: ObjectStorage) {
    this.#sql = storage.sql;
    this.#sql.exec("CREATE TABLE IF NOT EXISTS allocations (invoice_id TEXT, address_index INTEGER PRIMARY KEY)");
  }

  allocate(invoiceId: string): number {
    const [known] = this.#sql.exec("SELECT address_index FROM allocations WHERE invoice_id = ?", invoiceId).toArray();
    return known === undefined ? this.next(invoiceId) : Number(known.address_index);
  }

  next(invoiceId: string): number {
    const [row] = this.#sql
      .exec("INSERT INTO allocations SELECT ?, count(*) FROM allocations RETURNING address_index", invoiceId)
      .toArray();
    return Number(row?.address_index);
  }
}

interface Order {
  readonly key: string;
  readonly email: string;
  readonly isPoison: boolean;
  readonly isPublic: boolean;
}

export function groupsScenario(lab: Lab, name: string, parts: Parts = WHOLE): Scenario {
  const house = new House(lab, parts);
  return {
    name,
    lab,
    faultChance: 0.1,
    maxSteps: 20_000,
    start(world) {
      house.forget();
      const orders = ordersOf(world);
      const bodies = new Map<Order, string[]>(orders.map((order) => [order, []]));
      const bugs: unknown[] = [];
      for (const order of orders) {
        for (let i = 0; i < CLIENTS_PER_KEY; i++) {
          insist<string>({
            world,
            attempt: (client) => house.ask(world, client, order),
            onDone: (body) => bodies.get(order)?.push(body),
            onBug: (error) => bugs.push(error),
            isFault: (error) => faultKind(error) !== "other",
          });
        }
      }
      return () => (bugs.length > 0 ? `a bug: ${bugs[0]}` : check(lab, bodies));
    },
  };
}

/** Mostly a few requests, sometimes a whole group of them. */
function ordersOf(world: World): readonly Order[] {
  const count = world.pick([1, 2, 3, 4, 5, 6, world.random() < 0.1 ? 64 : 8]);
  return Array.from({ length: count }, (_, n) => ({
    key: `key ${n}`,
    email: `payer-${Math.floor(world.random() * (1 + count / 2))}@example.com`,
    isPoison: world.random() < 0.1,
    isPublic: world.random() < 0.3,
  }));
}

/** The merchant's object: one instance after the other, each with its memory and the storage of all. */
class House {
  readonly #lab: Lab;
  readonly #parts: Parts;
  #instance: Instance | undefined;
  #born = 0;

  constructor(lab: Lab, parts: Parts) {
    this.#lab = lab;
    this.#parts = parts;
    this.#reservations();
    this.#allocator();
  }

  forget(): void {
    this.#instance = undefined;
  }

  ask(world: World, client: Client, order: Order): Promise<Attempt<string>> {
    const serve = () => {
      this.#instance ??= this.#wake(world);
      return this.#instance.serve(order);
    };
    // The answer of an object is a promise; a caller that dies meanwhile changes nothing for the object.
    return world
      .effectOf(client)("enter the object", serve)
      .then(
        (answer) =>
          new Promise<Attempt<string>>((resolve, reject) => {
            if (!client.isDead) Promise.resolve(answer).then(resolve, reject);
          }),
      );
  }

  #reservations(): KeyReservations {
    return this.#lab.object("keys", (storage) => new KeyReservations(storage, () => this.#lab.world.newUlid()));
  }

  #allocator(): Allocator {
    return this.#lab.object("allocator", (storage) => new Allocator(storage));
  }

  #wake(world: World): Instance {
    this.#born += 1;
    const name = `instance ${this.#born}`;
    const reservations = () => this.#reservations();
    return new Instance(world, this.#parts, {
      lab: this.#lab,
      onDeath: () => {
        this.#instance = undefined;
        if (!this.#parts.keepsKeys) this.#lab.storageOf("keys").sql.exec("DELETE FROM claims");
      },
      allocate: (invoiceId) => this.#parts.allocate(this.#allocator(), invoiceId),
      keys: {
        reserve: async (hash, print, nowMs) => reservations().reserve(hash, print, nowMs, name),
        takeOver: async (hash, operationId, nowMs) => reservations().takeOver(hash, operationId, nowMs, name),
        endLease: async (hash, operationId, attempt) => reservations().endLease(hash, operationId, attempt),
      },
    });
  }
}

interface Surroundings {
  readonly lab: Lab;
  readonly onDeath: () => void;
  readonly allocate: (invoiceId: string) => number;
  readonly keys: Keys;
}

class Instance {
  readonly #deps: OnceDependencies;
  readonly #dbOf: (isPublic: boolean) => Db;
  readonly #allocate: (invoiceId: string) => Promise<number>;
  readonly #died: Promise<never>;

  constructor(world: World, parts: Parts, { lab, onDeath, allocate, keys }: Surroundings) {
    const { promise, reject } = Promise.withResolvers<never>();
    promise.catch(() => {});
    this.#died = promise;
    const client = world.client(() => {
      onDeath();
      reject(new Error("Network connection lost."));
    });
    const effect = world.effectOf(client);
    const sleep = world.sleepOf(client);
    const nowMs = () => world.nowMs;
    const groups = parts.groupsOf({ db: lab.db(effect), sleep, nowMs });
    this.#dbOf = (isPublic) => lab.db(effect, undefined, groups.request(isPublic));
    this.#allocate = (invoiceId) => effect("allocate", () => allocate(invoiceId));
    this.#deps = {
      ...{ db: lab.db(effect), keys: joiningKeys(keys), nowMs, sleep },
      ...{ background: () => {}, newOperationId: () => world.newUlid() },
    };
  }

  serve(order: Order): Promise<Attempt<string>> {
    const answer = Promise.race([this.#died, this.#create(order)]);
    // Its caller may be gone.
    answer.catch(() => {});
    return answer;
  }

  async #create(order: Order): Promise<Attempt<string>> {
    const deps = { ...this.#deps, db: this.#dbOf(order.isPublic) };
    const first = await readWithRetry(deps.sleep, () => customersWith(deps.db, order.email));
    if (!first.ok) return { kind: "again", afterMs: 1_000 };
    const work: Work = async (operationId, conflict, tries) => {
      throwUnlessContention("a create", conflict);
      const known = tries === 0 ? first : await readWithRetry(deps.sleep, () => customersWith(deps.db, order.email));
      if (!known.ok) return { kind: "refused", failure: known.error };
      const invoiceId = makeId("inv", operationId);
      const index = await this.#allocate(invoiceId);
      return { ...prepared(deps.db, { order, operationId, index, known: known.value[0]?.id }), kind: "ready" };
    };
    try {
      const answer = await runOnce(deps, { merchantId: MERCHANT, key: { hash: order.key, fingerprint: "v1" } }, work);
      if (answer.kind === "answer") return { kind: "done", value: answer.body };
      const waits = answer.failure.code === "OPERATION_IN_PROGRESS" ? answer.failure.retryAfterSeconds : 1;
      return { kind: "again", afterMs: waits * 1_000 };
    } catch (error) {
      if (order.isPoison && /NOT NULL/.test(String(error))) return { kind: "done", value: "refused as poison" };
      throw error;
    }
  }
}

async function customersWith(db: Db, email: string) {
  const [found] = await readTogether(db, [
    db
      .select({ id: customers.id })
      .from(customers)
      .where(and(eq(customers.merchantId, MERCHANT), eq(customers.emailKey, email))),
  ]);
  return found;
}

function prepared(
  db: Db,
  of: { order: Order; operationId: string; index: number; known: `cus_${string}` | undefined },
) {
  const { order, operationId, index, known } = of;
  const customerId = known ?? derivedId("cus", operationId);
  const text = JSON.stringify({ key: order.key, customerId, index });
  const event = insertEvent(db, {
    ...{
      id: derivedId("evt", operationId),
      merchantId: MERCHANT,
      type: "invoice.created",
      sequence: 1,
      createdAtMs: 0,
    },
    invoiceId: makeId("inv", operationId),
    // A row that the database refuses.
    data: order.isPoison ? (null as unknown as string) : text,
    ...{ headSequence: null, headLength: null },
  });
  const customer = insertCustomer(db, {
    ...{ id: customerId, merchantId: MERCHANT, email: order.email, emailKey: order.email },
    ...{ name: null, address: null, phoneNumber: null, metadata: null },
    ...{ createdAtMs: 0, updatedAtMs: 0, deletedAtMs: null },
  });
  return {
    status: 201,
    body: text,
    statements: known === undefined ? [customer, event] : [event],
    subjects: known === undefined ? [`customer ${order.email}`] : [],
  };
}

/** Nothing doubled, nothing lost, one answer for each key, every index used once, and no other request suffers from a refused row. */
function check(lab: Lab, bodies: ReadonlyMap<Order, readonly string[]>): Verdict {
  const healthy = [...bodies].filter(([{ isPoison }]) => !isPoison);
  const rows = lab.rows("select data from events");
  if (rows.length !== healthy.length) return `${rows.length} invoices for ${healthy.length} keys`;
  const stored = new Set(rows.map(({ data }) => data));
  for (const [{ key, isPoison }, of] of bodies) {
    if (of.length !== CLIENTS_PER_KEY) return `${CLIENTS_PER_KEY - of.length} clients of ${key} without an answer`;
    if (new Set(of).size !== 1) return `${key} was answered in ${new Set(of).size} ways`;
    if (stored.has(of[0] ?? "") === isPoison) return `the answer of ${key} is ${isPoison ? "" : "not "}stored`;
  }
  const indexes = new Set(rows.map(({ data }) => JSON.parse(String(data)).index));
  if (indexes.size !== rows.length) return `${rows.length} invoices share ${indexes.size} addresses`;
  const allocated = lab.storageOf("allocator").sql.exec("select count(*) as n from allocations").toArray()[0]?.n;
  if (allocated !== bodies.size) return `${allocated} addresses handed out to ${bodies.size} operations`;
  const emails = new Set(healthy.map(([{ email }]) => email)).size;
  const [count] = lab.rows("select count(*) as n from customers");
  return count?.n === emails ? undefined : `${count?.n} customers with ${emails} emails`;
}
