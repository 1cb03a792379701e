// The Worker at the edge, which runs concurrently with the groups of the merchant's object. It changes invoices, sometimes with a key that the object also uses, and
// revokes keys.
import { sql } from "drizzle-orm";
import { derivedId } from "../../../src/lib/ids.ts";
import { readTogether } from "../../../src/platform/db/batch.ts";
import type { Db } from "../../../src/platform/db/client.ts";
import { commitBatch } from "../../../src/platform/db/commit-batch.ts";
import { throwUnlessContention } from "../../../src/platform/db/conflict.ts";
import { preparedForEach } from "../../../src/platform/db/prepared-statement.ts";
import type { Keys } from "../../../src/platform/idempotency/key-reservations.ts";
import type { OnceDependencies } from "../../../src/platform/idempotency/run-once.ts";
import type { Revocation } from "../../../src/platform/revocations/revocation.ts";
import type { Attempt } from "../engine/campaign.ts";
import type { Lab } from "../engine/lab.ts";
import type { Client, World } from "../engine/world.ts";
import { MERCHANT, revocationOf } from "./groups-acts.ts";
import { SKEWS } from "./groups-instance.ts";
import type { Parts, System } from "./groups-system.ts";
import { type Answer, attemptOf, type Doer, type Request, readFacts, workOf } from "./groups-works.ts";

const selectEvent = preparedForEach(
  (id: string) => ({ id }),
  (db, of) =>
    db
      .select({ at: sql<number>`asked.key`.as("at"), id: sql<string>`events.id`.as("event_id") })
      .from(sql`json_each(${of.items}) asked join events on events.id = asked.value->>'id'`),
);

export class Edge {
  readonly #system: System;
  readonly #lab: Lab;
  readonly #parts: Parts;

  constructor(system: System, lab: Lab, parts: Parts) {
    this.#system = system;
    this.#lab = lab;
    this.#parts = parts;
  }

  async serve(world: World, client: Client, request: Request): Promise<Attempt<Answer>> {
    const { order, print } = request;
    const effect = world.effectOf(client);
    const sleep = world.sleepOf(client);
    const db = this.#lab.db(effect);
    if (order.act === "revoke") return this.#revoke(world, client, request);
    const skewMs = world.pick(SKEWS);
    const doer: Doer = {
      world,
      db,
      sleep,
      made: this.#parts.made,
      allocate: (name) => effect("allocate", () => this.#system.allocate(world, [name])[0] ?? Number.NaN),
    };
    const first = await readFacts(doer, request);
    if (!first.ok) return attemptOf(world, order, { kind: "refused", failure: first.error });
    if (first.value.isRevoked === 1)
      return attemptOf(world, order, { kind: "refused", failure: { code: "UNAUTHORIZED" } });
    const deps: OnceDependencies = {
      db,
      keys: this.#keys(world, client),
      nowMs: () => world.nowMs + skewMs,
      sleep,
      background: () => {},
      newOperationId: () => world.newUlid(),
    };
    const reserved = order.isKeyless ? undefined : { hash: order.key, fingerprint: print };
    const answer = await this.#parts.once(
      deps,
      { merchantId: MERCHANT, key: reserved },
      workOf(doer, request, first.value),
    );
    return attemptOf(world, order, answer);
  }

  /**
   * Like every change without a key, this is one batch with a marker. A caller finding the key revoked gets the answer of the call that revoked it.
   */
  async #revoke(world: World, client: Client, { order }: Request): Promise<Attempt<Answer>> {
    const sleep = world.sleepOf(client);
    const db = this.#keeping(world, client);
    const success: Attempt<Answer> = { kind: "done", value: { kind: "success", body: "revoked" } };
    const facts = await readFacts({ db, sleep } as Doer, { order, invoiceId: undefined });
    if (!facts.ok) return { kind: "again", afterMs: 1_000 };
    if (facts.value.isRevoked === 1) return success;
    const operationId = world.newUlid();
    const marker = async () => (await readTogether(db, [selectEvent(db, derivedId("evt", operationId))]))[0];
    const committed = await commitBatch({ db, sleep }, marker, [revocationOf(db, order, operationId)]);
    if (committed.kind === "committed") return success;
    if (committed.kind === "conflict") throwUnlessContention("a revocation", committed.conflict);
    return { kind: "again", afterMs: 1_000 };
  }

  #keeping(world: World, client: Client): Db {
    const db = this.#lab.db(world.effectOf(client));
    const keep = (revocations: readonly Revocation[]) =>
      this.#parts.beforeBatch(
        this.#system
          .call(world, client, "keep a copy", (instance) => instance.keep(revocations))
          .catch((error: unknown) => {
            // This object runs the previous release, which lacks the method. The deployment reaches the object before the request is repeated.
            if (error instanceof TypeError && /implement/.test(error.message)) this.#system.update();
            throw error;
          }),
      );
    return Object.assign(Object.create(db), { listeners: { keep } });
  }

  #keys(world: World, client: Client): Keys {
    const ask = <T>(of: (keys: Keys) => Promise<T>) =>
      this.#system.call(world, client, "ask the keys", (instance) => instance.ofKeys(of));
    return {
      reserve: (...of) => ask((keys) => keys.reserve(...of)),
      takeOver: (...of) => ask((keys) => keys.takeOver(...of)),
      endLease: (...of) => ask((keys) => keys.endLease(...of)),
    };
  }
}
