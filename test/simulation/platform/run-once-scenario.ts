// The protocol of reliability.md 1 on its own, with the smallest operation that has all of its parts: a read, an allocation, a row for which two
// operations compete, and an event. Each of two keys has several clients. Their Worker may crash, stall or lose an answer anywhere.
import { and, eq } from "drizzle-orm";
import { derivedId, type MerchantId, makeId } from "../../../src/lib/ids.ts";
import type { ObjectStorage } from "../../../src/lib/object-storage.ts";
import { isConflictOn } from "../../../src/platform/db/conflict.ts";
import { faultKind, readWithRetry } from "../../../src/platform/db/retry.ts";
import { customers } from "../../../src/platform/db/schema/customers.ts";
import { events } from "../../../src/platform/db/schema/events.ts";
import { KeyReservations, type Keys } from "../../../src/platform/idempotency/key-reservations.ts";
import type {
  OnceAnswer,
  OnceDependencies,
  OnceRequest,
  Prepared,
  Work,
} from "../../../src/platform/idempotency/run-once.ts";
import { type Attempt, insist, type Scenario } from "../engine/campaign.ts";
import type { Lab } from "../engine/lab.ts";
import type { Client, World } from "../engine/world.ts";

const MERCHANT: MerchantId = "mer_00000000000000000000000000";
const EMAIL = "payer@example.com";
const CLIENTS_PER_KEY = 3;

/** `runOnce`, or one of the broken protocols that the simulator has to catch. */
export type Protocol = (deps: SimulatedDependencies, request: OnceRequest, work: Work) => Promise<OnceAnswer>;

interface SimulatedDependencies extends OnceDependencies {
  /** Deletes a reservation. Only the broken variant may do this, never the protocol. */
  forget(keyHash: string): Promise<void>;
}

/** Gives out indexes in the order in which they were first requested; an invoice always gets the same one. */
class Allocator {
  readonly #sql: ObjectStorage["sql"];

  constructor(storage: ObjectStorage) {
    this.#sql = storage.sql;
    this.#sql.exec(
      "CREATE TABLE IF NOT EXISTS allocations (invoice_id TEXT PRIMARY KEY, address_index INTEGER NOT NULL)",
    );
  }

  allocate(invoiceId: string): number {
    const find = () =>
      this.#sql.exec("SELECT address_index FROM allocations WHERE invoice_id = ?", invoiceId).toArray()[0]
        ?.address_index;
    if (find() === undefined) {
      this.#sql.exec("INSERT INTO allocations SELECT ?, count(*) FROM allocations", invoiceId);
    }
    return Number(find());
  }
}

export function runOnceScenario(lab: Lab, name: string, protocol: Protocol): Scenario {
  const reservationsOf = () => lab.object("keys", (storage) => new KeyReservations(storage, () => lab.world.newUlid()));
  const allocator = () => lab.object("allocator", (storage) => new Allocator(storage));
  const forget = (keyHash: string) => lab.storageOf("keys").sql.exec("DELETE FROM claims WHERE key_hash = ?", keyHash);
  reservationsOf();
  allocator();

  const effectsOf = (
    world: World,
    client: Client,
  ): SimulatedDependencies & { allocate(id: string): Promise<number> } => {
    const effect = world.effectOf(client);
    const keys: Keys = {
      reserve: (...args) => effect("reserve", () => reservationsOf().reserve(...args)),
      takeOver: (...args) => effect("take over", () => reservationsOf().takeOver(...args)),
      endLease: (...args) => effect("end lease", () => reservationsOf().endLease(...args)),
    };
    return {
      db: lab.db(effect),
      keys,
      forget: (keyHash) => effect("forget", () => void forget(keyHash)),
      nowMs: () => world.nowMs,
      sleep: world.sleepOf(client),
      background: () => {},
      newOperationId: () => world.newUlid(),
      allocate: (invoiceId) => effect("allocate", () => allocator().allocate(invoiceId)),
    };
  };

  return {
    name,
    lab,
    faultChance: 0.15,
    maxSteps: 4_000,
    start(world) {
      const bugs: unknown[] = [];
      const answers = new Map<string, string[]>([
        ["key a", []],
        ["key b", []],
      ]);
      for (const [key, bodies] of answers) {
        for (let i = 0; i < CLIENTS_PER_KEY; i++) {
          insist<string>({
            world,
            attempt: (client) => createThing(effectsOf(world, client), { world, key, protocol }),
            onDone: (body) => bodies.push(body),
            onBug: (error) => bugs.push(error),
            isFault: (error) => faultKind(error) !== "other",
          });
        }
      }
      return () => check(lab, answers, bugs);
    },
  };
}

async function createThing(
  deps: SimulatedDependencies & { allocate(id: string): Promise<number> },
  of: { world: World; key: string; protocol: Protocol },
): Promise<Attempt<string>> {
  // A refusal may depend on the time; here one attempt in four is refused.
  const isRefused = of.world.random() < 0.25;
  const work: Work = async (operationId, conflict): Promise<Prepared> => {
    if (isRefused) return { kind: "refused", failure: { code: "AMOUNTS_EXHAUSTED" } };
    if (conflict !== undefined && !isConflictOn(conflict, "customers", ["merchant_id", "email_key"])) {
      throw new Error(`an impossible conflict: ${JSON.stringify(conflict)}`);
    }
    const known = await readWithRetry(deps.sleep, async () =>
      deps.db
        .select({ id: customers.id })
        .from(customers)
        .where(and(eq(customers.merchantId, MERCHANT), eq(customers.emailKey, EMAIL))),
    );
    if (!known.ok) return { kind: "refused", failure: known.error };
    const invoiceId = makeId("inv", operationId);
    const index = await deps.allocate(invoiceId);
    const nowMs = deps.nowMs();
    const customerId = known.value[0]?.id ?? derivedId("cus", operationId);
    const event = deps.db.insert(events).values({
      id: derivedId("evt", operationId),
      merchantId: MERCHANT,
      type: "invoice.created",
      invoiceId,
      sequence: 1,
      data: JSON.stringify({ customerId, index }),
      createdAtMs: nowMs,
    });
    const customer = deps.db.insert(customers).values({
      id: customerId,
      merchantId: MERCHANT,
      email: EMAIL,
      emailKey: EMAIL,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    });
    return {
      kind: "ready",
      status: 201,
      // The answer contains the time, so two runs of one operation would answer different bytes.
      body: JSON.stringify({ invoiceId, customerId, index, nowMs }),
      statements: known.value.length === 0 ? [customer, event] : [event],
    };
  };
  const answer = await of.protocol(deps, { merchantId: MERCHANT, key: { hash: of.key, fingerprint: "v1" } }, work);
  if (answer.kind === "answer") return { kind: "done", value: answer.body };
  const { failure } = answer;
  switch (failure.code) {
    case "OPERATION_IN_PROGRESS":
      return { kind: "again", afterMs: failure.retryAfterSeconds * 1_000 };
    case "STORAGE_UNAVAILABLE":
    case "CONTENTION":
    case "AMOUNTS_EXHAUSTED":
      return { kind: "again", afterMs: 1_000 };
    default:
      throw new Error(`an impossible refusal: ${failure.code}`);
  }
}

/** Nothing may be duplicated or lost, each key must have one answer, and every index must be used once, without gaps. */
function check(
  lab: Lab,
  answers: ReadonlyMap<string, readonly string[]>,
  bugs: readonly unknown[],
): string | undefined {
  if (bugs.length > 0) return `a bug: ${bugs[0]}`;
  const stored = lab.rows("SELECT data FROM events ORDER BY json_extract(data, '$.index')");
  if (stored.length !== answers.size) return `${stored.length} invoices for ${answers.size} keys`;
  const indexes = stored.map((row) => JSON.parse(String(row.data)).index);
  if (indexes.join() !== [...answers.keys()].map((_, i) => i).join()) return `indexes ${indexes.join()}`;
  const operationRows = lab.rows("SELECT body FROM operations").map((row) => row.body);
  for (const [key, bodies] of answers) {
    if (bodies.length !== CLIENTS_PER_KEY)
      return `${CLIENTS_PER_KEY - bodies.length} clients of ${key} without an answer`;
    if (new Set(bodies).size !== 1) return `${key} was answered in ${new Set(bodies).size} ways`;
    if (!operationRows.includes(bodies[0] ?? "")) return `the answer of ${key} is not stored`;
  }
  const emails = lab.rows("SELECT count(*) AS n FROM customers")[0]?.n;
  return emails === 1 ? undefined : `${emails} customers with one email`;
}
