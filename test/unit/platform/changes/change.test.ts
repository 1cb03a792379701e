import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { err, ok, type Result } from "../../../../src/lib/result.ts";
import { SYSTEM_TRAIL } from "../../../../src/platform/audit/entry.ts";
import { insertAudit } from "../../../../src/platform/audit/store.ts";
import {
  type Attempt,
  type CommitDependencies,
  change,
  changeOnce,
  currentRow,
} from "../../../../src/platform/changes/change.ts";
import { describeConflict } from "../../../../src/platform/db/conflict.ts";
import { customers } from "../../../../src/platform/db/schema/customers.ts";
import { assertions } from "../../../../src/platform/db/schema/operations.ts";
import type { Failure } from "../../../../src/platform/failures.ts";
import { inScriptedWorld, type Script } from "../../../support/scripted-world.ts";

const MERCHANT = "mer_01M7Y116S5004EM2R6G33SCWPC";
type Run<T> = (deps: CommitDependencies) => Promise<Result<T, Failure>>;

async function inLab<T>(script: Script, run: Run<T>) {
  const { result, seen, lab } = await inScriptedWorld(script, async ({ effect, client, world, lab }) =>
    run({
      db: lab.db(effect),
      nowMs: world.nowMs,
      sleep: world.sleepOf(client),
      newOperationId: () => world.newUlid(),
    }),
  );
  return { result, writes: seen["d1 write"] ?? 0, entries: lab.rows("SELECT id FROM audit_events").length };
}

const audit = ({ db }: CommitDependencies, { auditId: id }: Attempt) =>
  insertAudit(db, SYSTEM_TRAIL, { id, merchantId: MERCHANT, action: "wallet.updated", target: "" }, 0);
const failing = ({ db }: CommitDependencies) => db.insert(assertions).values({ name: "a fact", holds: 0 });
/** Two customers, one for each id and email; tests give both the same id or the same email. */
const clash = (
  { db }: CommitDependencies,
  of: { readonly ids: readonly string[]; readonly emails: readonly string[] },
) =>
  of.ids.map((id, n) =>
    db.insert(customers).values({
      id: `cus_${id}`,
      merchantId: MERCHANT,
      email: of.emails[n] ?? "",
      emailKey: of.emails[n] ?? "",
      createdAtMs: 0,
      updatedAtMs: 0,
    }),
  );

describe("a change", () => {
  it("is read and decided again whenever another writer makes its batch fail, up to five attempts in total", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 8 }), async (losses) => {
        const read: number[] = [];
        const attempts: Attempt[] = [];
        const done = await inLab({}, (deps) =>
          change(deps, { name: "a change", read: (tries) => ok(read.push(tries)) }, (facts, attempt) => {
            attempts.push(attempt);
            return ok({
              value: facts,
              statements: [...(facts <= losses ? [failing(deps)] : []), audit(deps, attempt)],
            });
          }),
        );
        const tries = Math.min(losses + 1, 5);
        expect(done.result).toEqual(losses < 5 ? ok(losses + 1) : err({ code: "CONTENTION" }));
        expect(done.entries).toBe(losses < 5 ? 1 : 0);
        expect(read).toEqual(Array.from({ length: tries }, (_, n) => n));
        expect(attempts.map(({ conflict }) => conflict?.kind)).toEqual(
          read.map((n) => (n === 0 ? undefined : "assertion")),
        );
        expect(new Set(attempts.map(({ operationId }) => operationId)).size).toBe(tries);
      }),
      { numRuns: 12 },
    );
  });

  it("is decided again after a conflict, which the decision can examine; it throws if no other writer can have caused the conflict", async () => {
    const conflicts: string[] = [];
    const ofKeys = (of: Parameters<typeof clash>[1]): Run<string> => {
      return (deps) =>
        change(deps, { name: "a change of a customer", read: () => ok(undefined) }, (_, attempt) => {
          if (attempt.conflict !== undefined) conflicts.push(describeConflict(attempt.conflict));
          return ok({
            value: "done",
            statements: [...(conflicts.length > 0 ? [] : clash(deps, of)), audit(deps, attempt)],
          });
        });
    };
    const sameId = inLab({}, ofKeys({ ids: ["1", "1"], emails: ["a", "b"] }));
    await expect(sameId).rejects.toThrow("a change of a customer met customers(id)");
    const sameEmail = await inLab({}, ofKeys({ ids: ["1", "2"], emails: ["a", "a"] }));
    expect(sameEmail.result).toEqual(ok("done"));
    expect(conflicts).toEqual(["customers(merchant_id, email_key)"]);
  });

  it("runs its `afterwards` once, with the results of its statements if they are known, and never without a commit", async () => {
    const followedBy = async (script: Script, isFailing = false) => {
      const followed: unknown[] = [];
      const done = await inLab(script, (deps) =>
        change(deps, { name: "a change", read: () => ok(undefined) }, (_, attempt) =>
          ok({
            value: "done",
            statements: [...(isFailing ? [failing(deps)] : []), audit(deps, attempt)],
            afterwards: async (results) => void followed.push(results?.length),
          }),
        ),
      );
      return { result: done.result, entries: done.entries, followed };
    };
    const unavailable = err({ code: "STORAGE_UNAVAILABLE" });
    expect(await followedBy({})).toEqual({ result: ok("done"), entries: 1, followed: [1] });
    expect(await followedBy({ "d1 write": ["answer lost"] })).toEqual({
      result: ok("done"),
      entries: 1,
      followed: [undefined],
    });
    expect(await followedBy({ "d1 write": ["overloaded"] })).toEqual({ result: unavailable, entries: 0, followed: [] });
    expect(await followedBy({}, true)).toEqual({ result: err({ code: "CONTENTION" }), entries: 0, followed: [] });
  });

  it("without statements writes nothing, and neither does a refused change", async () => {
    const subject = { name: "a change", read: () => ok(undefined) };
    const nothing = await inLab({}, (deps) => change(deps, subject, () => ok({ value: "as it was", statements: [] })));
    expect(nothing).toEqual({ result: ok("as it was"), writes: 0, entries: 0 });
    const refused = await inLab({}, (deps) => change(deps, subject, () => err({ code: "WALLET_FROZEN" })));
    expect(refused).toEqual({ result: err({ code: "WALLET_FROZEN" }), writes: 0, entries: 0 });
    const unread = { name: "a change", read: () => err({ code: "WALLET_NOT_FOUND" } as const) };
    const missing = await inLab({}, (deps) =>
      change(deps, unread, () => ok({ value: undefined, statements: [failing(deps)] })),
    );
    expect(missing).toEqual({ result: err({ code: "WALLET_NOT_FOUND" }), writes: 0, entries: 0 });
  });

  it("with a marker is confirmed by the marker's row if all answers to its batch were lost", async () => {
    const asked = async (isThere: boolean) => {
      const done = await inLab({ "d1 write": ["lost before", "lost before", "lost before"] }, (deps) =>
        change(deps, { name: "a change", read: () => ok(undefined) }, (_, attempt) =>
          ok({ value: "done", statements: [audit(deps, attempt)], marker: async () => (isThere ? [1] : []) }),
        ),
      );
      return done.result;
    };
    expect(await asked(true)).toEqual(ok("done"));
    expect(await asked(false)).toEqual(err({ code: "STORAGE_UNAVAILABLE" }));
  });
});

describe("a change that is decided once", () => {
  it("is refused with the given failure, and without a second batch, if another writer made it fail", async () => {
    const once = (refusal: Parameters<typeof changeOnce>[1]["refusal"]) =>
      inLab({}, (deps) =>
        changeOnce(deps, { name: "a change", refusal }, (attempt) => ({
          value: "done",
          statements: [failing(deps), audit(deps, attempt)],
        })),
      );
    const refused = { result: err({ code: "PASSKEY_REFUSED" }), writes: 1, entries: 0 };
    expect(await once({ code: "PASSKEY_REFUSED" })).toEqual(refused);
    expect(await once(({ kind }) => ({ code: kind === "assertion" ? "PASSKEY_REFUSED" : "PASSKEY_EXISTS" }))).toEqual(
      refused,
    );
  });
});

describe("the row that a change is based on", () => {
  it("is the one that the caller read for the first attempt, and is read again for each later attempt", async () => {
    const row = (read: string | undefined, now: readonly string[], tries: number) =>
      inLab({}, (deps) =>
        currentRow(deps, { read, again: async () => now, missing: { code: "WALLET_NOT_FOUND" } }, tries),
      );
    expect((await row("before", ["now"], 0)).result).toEqual(ok("before"));
    expect((await row("before", ["now"], 1)).result).toEqual(ok("now"));
    for (const [read, now, tries] of [[undefined, ["now"], 0] as const, ["before", [], 1] as const])
      expect((await row(read, now, tries)).result).toEqual(err({ code: "WALLET_NOT_FOUND" }));
  });
});
