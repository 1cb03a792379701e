// For some minutes after a deploy, objects still run the previous release. Calls from the new Worker must be handled safely, or refused with 503
// until the objects run this release: no revoked right may work again, and no caller may get a 500.
import { env } from "cloudflare:workers";
import { and, eq, isNull } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { keysOf } from "../../../src/accounts/pipeline/answer-once.ts";
import { placeName } from "../../../src/commerce/amounts/amount-place.ts";
import { restoreDependencies } from "../../../src/commerce/restores/dependencies.ts";
import { sleep } from "../../../src/lib/sleep.ts";
import { openWakingDb } from "../../../src/platform/db/client.ts";
import { faultKind } from "../../../src/platform/db/retry.ts";
import { apiKeys } from "../../../src/platform/db/schema/api-keys.ts";
import { expectRefusal, sendWith } from "../../support/access.ts";
import { ADDED_METHODS } from "../../support/added-methods.ts";
import { makeKey, seated } from "../../support/api-keys.ts";
import { copyDatabase } from "../../support/copy-database.ts";
import { type AddedBinding, withOlder } from "../../support/older-objects.ts";
import { importLost, restoredEnv } from "../../support/restores.ts";
import { testDb } from "../../support/worker-merchant.ts";

const isEvery = () => true;

async function shopWithKey() {
  const owner = await seated("OWNER");
  const { id } = await makeKey(owner);
  const path = `/api/v1/merchants/merchant/${owner.merchantId}/api-keys/${id}`;
  const remove = (older: Partial<Env>) => sendWith(older, path, { method: "DELETE", headers: owner.headers });
  const left = async () =>
    (
      await testDb
        .select()
        .from(apiKeys)
        .where(and(eq(apiKeys.id, id), isNull(apiKeys.revokedAtMs)))
    ).length;
  return { owner, remove, left };
}

describe("revoking a right while the merchant's object runs the previous release", () => {
  it("takes effect, and is not undone when the database is restored", async () => {
    const { owner, remove, left } = await shopWithKey();
    const putBack = await copyDatabase();
    const restoredToMs = Date.now();
    const answer = await remove(withOlder("MERCHANT_OBJECT", (name) => name === owner.merchantId));
    expect(answer.status, answer.text).toBe(204);
    expect(await left()).toBe(0);
    await putBack();
    expect(await left()).toBe(1);
    await importLost(restoredEnv(restoredToMs));
    expect(await left()).toBe(0);
  });

  it("is refused with 503 and a time to retry if no object can record the revocation", async () => {
    const { remove, left } = await shopWithKey();
    const answer = await remove(withOlder("MERCHANT_OBJECT", isEvery));
    expectRefusal(answer, 503, "STORAGE_UNAVAILABLE");
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await left()).toBe(1);
  });
});

it("an object of the previous release recognises no caller", async () => {
  const older = { ...env, ...withOlder("MERCHANT_OBJECT", isEvery) };
  expect(await keysOf(older, "mer_older").knows?.("hash", Date.now())).toBe(false);
});

it("an import that reads from an object of the previous release fails temporarily instead of skipping items", async () => {
  const restored = restoredEnv(Date.now());
  const older = { ...restored, ...withOlder("MERCHANT_OBJECT", isEvery), ...withOlder("ADDRESS_ALLOCATOR", isEvery) };
  const background = (work: Promise<unknown>) => void work.catch(() => undefined);
  const given = { db: openWakingDb(env.DB, env, background), nowMs: Date.now(), sleep, background };
  const { read } = restoreDependencies(older, { number: 1, restoredToMs: 0 }, given);
  for (const phase of ["REVOCATIONS", "ADDRESSES"] as const) {
    const fault = await read(phase, "mer_older", { sinceMs: 0, after: -1, limit: 1 }).catch(faultKind);
    expect(fault, phase).toBe("transient");
  }
});

/** The name of an object, for each binding. */
const NAMES: Readonly<Record<AddedBinding, string>> = {
  ADDRESS_ALLOCATOR: "older",
  AMOUNT_ALLOCATOR: placeName({ network: "ETH", cryptocurrency: "USDT", address: "older" }),
  DIRECTORY: "MERCHANTS",
  MERCHANT_OBJECT: "mer_older",
  NETWORK_WATCHER: "ETH",
};

it.each(ADDED_METHODS)(
  "a call to %s on an object that lacks it counts as a temporary fault, not as a bug",
  async (added) => {
    const [binding, method] = added.split(".") as [AddedBinding, string];
    const stub = withOlder(binding, isEvery)[binding].getByName(NAMES[binding]);
    const call: unknown = Reflect.get(stub, method);
    if (typeof call !== "function") throw new Error("a stub has every method");
    const fault = await Promise.resolve(call("name", 1)).catch(faultKind);
    expect(fault).toBe("transient");
  },
);
