import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openDb } from "../../../../src/platform/db/client.ts";
import { LEASE_MS, runJob } from "../../../../src/platform/jobs/run-job.ts";
import { migratedDatabase, savepoints, sqliteD1, statementCache } from "../../../simulation/engine/sqlite-d1.ts";
import { RUNS } from "../../../support/property-runs.ts";

/** Waits until the callbacks of all settled promises have run. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

function freshJobs() {
  const sqlite = migratedDatabase();
  const d1 = sqliteD1(statementCache(sqlite), savepoints(sqlite), async (_, work) => work());
  const clock = { nowMs: 1_000_000 };
  let ids = 0;
  const deps = { db: openDb(d1), nowMs: () => clock.nowMs, newRunId: () => `run_${ids++}` };
  const clear = () => sqlite.exec("delete from job_runs");
  const row = (job: string) => sqlite.prepare("select * from job_runs where job = ?").get(job);
  return { deps, clock, clear, row };
}

const step = fc.oneof(
  fc.record({ kind: fc.constant("message" as const), job: fc.constantFrom("a", "b") }),
  fc.record({ kind: fc.constantFrom("end" as const, "fail" as const, "die" as const), job: fc.constantFrom("a", "b") }),
  fc.record({ kind: fc.constant("wait" as const), ms: fc.nat({ max: LEASE_MS }) }),
);

describe("runs of a job", () => {
  it("happen one at a time, no matter how messages arrive; a crashed run is replaced after its lease", async () => {
    const { deps, clock, clear } = freshJobs();
    const schedules = fc.array(step, { minLength: 1, maxLength: 25 });
    await fc.assert(
      fc.asyncProperty(schedules, async (steps) => {
        clear();
        const under = new Map<string, { readonly beganMs: number; readonly end: (fails: boolean) => void }>();
        for (const each of steps) {
          if (each.kind === "wait") clock.nowMs += each.ms;
          else if (each.kind === "message") {
            const before = under.get(each.job);
            const isFree = before === undefined || clock.nowMs >= before.beganMs + LEASE_MS;
            const began: boolean[] = [];
            const outcome = runJob(deps, {
              name: each.job,
              run: () => {
                began.push(true);
                return new Promise((resolve, reject) => {
                  const end = (fails: boolean) => (fails ? reject(new Error("a fault")) : resolve("nothing"));
                  under.set(each.job, { beganMs: clock.nowMs, end });
                });
              },
            }).catch((error: Error) => error.message);
            await settled();
            expect(began.length > 0).toBe(isFree);
            if (!isFree) expect(await outcome).toBe("running");
          } else {
            const run = under.get(each.job);
            if (each.kind === "die" || run === undefined) continue;
            run.end(each.kind === "fail");
            await settled();
            under.delete(each.job);
          }
        }
      }),
      { numRuns: RUNS / 5 },
    );
  });

  it("return what the job returns or throw its error, and record the time of a success", async () => {
    const { deps, clock, row } = freshJobs();
    expect(await runJob(deps, { name: "a", run: async () => "more" })).toBe("more");
    expect(row("a")).toMatchObject({ leased_until_ms: 0, began_at_ms: clock.nowMs, ended_at_ms: clock.nowMs });
    const endedMs = clock.nowMs;
    clock.nowMs += 5;
    await expect(runJob(deps, { name: "a", run: () => Promise.reject(new Error("a fault")) })).rejects.toThrow(
      "a fault",
    );
    expect(row("a")).toMatchObject({ leased_until_ms: 0, began_at_ms: clock.nowMs, ended_at_ms: endedMs });
  });

  it("that end late do not end the lease of the run that replaced them", async () => {
    const { deps, clock, row } = freshJobs();
    const late = Promise.withResolvers<"nothing">();
    const first = runJob(deps, { name: "a", run: () => late.promise });
    await settled();
    clock.nowMs += LEASE_MS;
    const second = Promise.withResolvers<"nothing">();
    const other = runJob(deps, { name: "a", run: () => second.promise });
    await settled();
    late.resolve("nothing");
    await first;
    expect(row("a")).toMatchObject({ leased_until_ms: clock.nowMs + LEASE_MS });
    expect(await runJob(deps, { name: "a", run: async () => "nothing" })).toBe("running");
    second.resolve("nothing");
    expect(await other).toBe("nothing");
  });
});
