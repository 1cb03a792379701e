// Shared by the idempotency tests: real reservations, workerd's real database, and a small operation to run once.
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { derivedId, type MerchantId, makeId, newUlid } from "../../src/lib/ids.ts";
import { sleep } from "../../src/lib/sleep.ts";
import { openDb } from "../../src/platform/db/client.ts";
import { events } from "../../src/platform/db/schema/events.ts";
import { operations } from "../../src/platform/db/schema/operations.ts";
import { fingerprint, keyHash } from "../../src/platform/idempotency/idempotency-key.ts";
import type { Keys } from "../../src/platform/idempotency/key-reservations.ts";
import type { OnceDependencies, Prepared } from "../../src/platform/idempotency/run-once.ts";

export const freshUlid = () => newUlid(Date.now(), crypto.getRandomValues(new Uint8Array(16)));
/** Uses a fresh stub each time: a stub that threw, for example because its object was aborted, stays broken. */
export function keysOf(namespace: Pick<Env["MERCHANT_OBJECT"], "getByName">, merchantId: string): Keys {
  const stub = (): Keys => namespace.getByName(merchantId);
  return {
    reserve: (...args) => stub().reserve(...args),
    takeOver: (...args) => stub().takeOver(...args),
    endLease: (...args) => stub().endLease(...args),
    knows: async (...args) => (await stub().knows?.(...args)) ?? false,
  };
}
export const freshMerchant = (): MerchantId => makeId("mer", freshUlid());
export const realDb = openDb(env.DB);
export function dependencies(merchantId: MerchantId, over: Partial<OnceDependencies> = {}): OnceDependencies {
  return {
    db: realDb,
    keys: keysOf(env.MERCHANT_OBJECT, merchantId),
    nowMs: () => Date.now(),
    sleep,
    background: () => {},
    newOperationId: freshUlid,
    ...over,
  };
}

export function keyOf(merchantId: MerchantId, key: string, body: string = "{}") {
  return {
    hash: keyHash({ merchantId, keySpace: "secret", key }),
    fingerprint: fingerprint({ method: "POST", path: "/things", body: JSON.parse(body) }),
  };
}

/** A small operation that writes one event row; its bytes differ on each try, as if they contained the time. */
export function workOf(db: OnceDependencies["db"], merchantId: MerchantId) {
  return async (operationId: string): Promise<Prepared> => ({
    kind: "ready",
    status: 201,
    body: JSON.stringify({ id: makeId("inv", operationId), decided: crypto.randomUUID() }),
    statements: [
      db.insert(events).values({
        id: derivedId("evt", operationId),
        merchantId,
        type: "invoice.created",
        invoiceId: makeId("inv", operationId),
        sequence: 1,
        data: "{}",
        createdAtMs: 0,
      }),
    ],
  });
}

export async function rowsOf(merchantId: MerchantId) {
  const [eventRows, operationRows] = await realDb.batch([
    realDb.select({ id: events.id }).from(events).where(eq(events.merchantId, merchantId)),
    realDb.select({ id: operations.id }).from(operations).where(eq(operations.merchantId, merchantId)),
  ]);
  return { events: eventRows.length, operations: operationRows.length };
}
