// Which emails operators get when a cause of failure starts, ends and recurs.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { HOUR_MS, MINUTE_MS } from "../../../src/lib/time.ts";
import type { Reason } from "../../../src/notifications/deployment-status/status.ts";
import { type Alert, planAlerts } from "../../../src/notifications/operator-alerts/alert.ts";
import { RUNS } from "../../support/property-runs.ts";

const START = 1_800_000_000_000;
const CAUSES = ["CRON_STOPPED", "CURSOR_STALE ETH", "CURSOR_STALE BTC"] as const;
const reasonOf = (cause: string): Reason => {
  const [code = "", network = null] = cause.split(" ");
  return { code: code as Reason["code"], network, sinceMs: 1, detail: `about ${cause}` };
};

interface Mailed {
  readonly atMs: number;
  readonly kind: "failing" | "over";
  readonly cause: string;
}

/** Simulates one run per step, `minutes` after the step before, with these causes. */
function played(steps: readonly { readonly minutes: number; readonly causes: readonly string[] }[]) {
  let rows: readonly Alert[] = [];
  let nowMs = START;
  const mailed: Mailed[] = [];
  for (const { minutes, causes } of steps) {
    nowMs += minutes * MINUTE_MS;
    const plan = planAlerts(rows, causes.map(reasonOf), nowMs);
    for (const { cause } of plan.failing) mailed.push({ atMs: nowMs, kind: "failing", cause });
    for (const { cause } of plan.over) mailed.push({ atMs: nowMs, kind: "over", cause });
    const gone = [...plan.forgotten, ...plan.changed.map(({ cause }) => cause)];
    rows = [...rows.filter(({ cause }) => !gone.includes(cause)), ...plan.changed];
  }
  return { mailed, rows };
}

const inMinutes = ({ mailed }: { readonly mailed: readonly Mailed[] }) =>
  mailed.map(({ atMs, kind, cause }) => `${(atMs - START) / MINUTE_MS} ${kind} ${cause}`);
const each = (minutes: number, causes: readonly string[]) =>
  Array.from({ length: minutes }, () => ({ minutes: 1, causes }));

describe("operators are emailed", () => {
  it("when a cause starts, every hour while it lasts, and when it is over", () => {
    const steps = [...each(1, []), ...each(130, ["CRON_STOPPED"]), ...each(90, [])];
    expect(inMinutes(played(steps))).toEqual([
      "2 failing CRON_STOPPED",
      "62 failing CRON_STOPPED",
      "122 failing CRON_STOPPED",
      "132 over CRON_STOPPED",
    ]);
    expect(played(steps).rows).toEqual([]);
  });

  it("only once about the start and once about the end of a cause that comes and goes within an hour", () => {
    const flapping = Array.from({ length: 29 }, () => [...each(1, ["CURSOR_STALE ETH"]), ...each(1, [])]).flat();
    expect(inMinutes(played(flapping))).toEqual(["1 failing CURSOR_STALE ETH", "2 over CURSOR_STALE ETH"]);
  });

  it("only once if two runs find a cause in the same millisecond", () => {
    const twice = [...each(1, ["CRON_STOPPED"]), { minutes: 0, causes: ["CRON_STOPPED"] }];
    expect(inMinutes(played(twice))).toEqual(["1 failing CRON_STOPPED"]);
  });

  it("separately for each network", () => {
    expect(inMinutes(played([...each(1, CAUSES.slice(1)), ...each(1, CAUSES.slice(2))]))).toEqual([
      "1 failing CURSOR_STALE ETH",
      "1 failing CURSOR_STALE BTC",
      "2 over CURSOR_STALE ETH",
    ]);
  });

  it("at most once an hour per cause, once when it is over, and never about the end of a cause whose start was not mailed", () => {
    const step = fc.record({ minutes: fc.integer({ min: 1, max: 40 }), causes: fc.subarray([...CAUSES]) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const { mailed, rows } = played(steps);
        for (const cause of CAUSES) {
          const own = mailed.filter((mail) => mail.cause === cause);
          const failing = own.filter(({ kind }) => kind === "failing");
          for (const [n, { atMs }] of failing.entries())
            expect(atMs - (failing[n - 1]?.atMs ?? 0)).toBeGreaterThanOrEqual(HOUR_MS);
          for (const [n, { kind }] of own.entries()) if (kind === "over") expect(own[n - 1]?.kind).toBe("failing");
          const isThere = steps.at(-1)?.causes.includes(cause) ?? false;
          // The last email about a cause that has ended must say that it is over.
          if (!isThere) expect(own.at(-1)?.kind).not.toBe("failing");
          expect(rows.some((row) => row.cause === cause && row.endedAtMs === null)).toBe(isThere);
        }
      }),
      { numRuns: RUNS },
    );
  });

  it("at least once an hour about a cause that lasts", () => {
    const before = fc.array(fc.record({ minutes: fc.integer({ min: 1, max: 40 }), causes: fc.subarray([...CAUSES]) }), {
      maxLength: 20,
    });
    fc.assert(
      fc.property(before, (steps) => {
        const lasting = each(61, ["CRON_STOPPED"]);
        const { mailed } = played([...steps, ...lasting]);
        const endMs = START + (steps.reduce((sum, { minutes }) => sum + minutes, 0) + 61) * MINUTE_MS;
        const last = mailed.findLast(({ cause }) => cause === "CRON_STOPPED");
        expect(last?.kind).toBe("failing");
        expect(endMs - (last?.atMs ?? 0)).toBeLessThanOrEqual(HOUR_MS);
      }),
    );
  });
});
