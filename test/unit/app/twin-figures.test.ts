// The twin's flags and its report: the hours of a day, figures outside stalls, and heaps.
import { describe, expect, it } from "vitest";
import { flagsIn, planOf } from "../../twin/flags.ts";
import { growsSteadily, heapFigures } from "../../twin/heap.ts";
import { idleReport, monthOf, operationsInPage } from "../../twin/idle.ts";
import { addSpan, figuresOf, otherStatuses, outside, RECOVERY_MS, type Stall } from "../../twin/measured.ts";
import { tableText } from "../../twin/table.ts";
import { jobFaultIn, unexplained, withAftermath } from "../../twin/troubles.ts";
import { delayIn, FAR, USUAL } from "../../twin/weather.ts";

describe("the flags of the twin", () => {
  it.each([
    ["a count of stalls", ["--stalls", "2"], { stalls: [25, 25] }],
    ["their length", ["--stalls", "1", "--stall-seconds", "80"], { stalls: [80] }],
    ["several of different lengths", ["--stalls", "25,80", "--minutes", "6"], { stalls: [25, 80] }],
    ["no stall", ["--stalls", "0"], { stalls: [] }],
    ["clients instead of a rate", ["--clients", "16"], { clients: 16, rate: 0 }],
    ["clients and a rate", ["--clients", "16", "--rate", "3"], { clients: 16, rate: 3 }],
    [
      "latency of reads alone",
      ["--read", "12/60", "--weather", "far"],
      { weather: { ...FAR, read: { p50: 12, p99: 60 }, faults: 0.002 } },
    ],
    [
      "latency of writes",
      ["--write", "22/90.5"],
      { weather: { ...USUAL, write: { p50: 22, p99: 90.5 }, faults: 0.002 } },
    ],
    [
      "faults of objects",
      ["--resets", "0", "--recycle", "60", "--clocks=-500"],
      { resets: 0, recycleEveryMs: 60_000, clockMs: -500 },
    ],
    ["the table", ["--table", "--seconds", "5"], { mode: "table", spanSeconds: 5 }],
    ["the share of paid invoices", ["--paid", "0.1"], { paid: 0.1, cancelled: 0.3, expired: 0.15 }],
  ])("take %s", (_, args, flags) => {
    const read = flagsIn(args);
    expect(read).toMatchObject(flags);
  });

  it.each([
    [["--stalls", "25,soon"], "--stalls takes"],
    [["--stalls", "1.5"], "--stalls takes"],
    [["--stalls", "80,80"], "take 180 s, and the day has 120"],
    [["--read", "60/12"], "--read takes two numbers"],
    [["--weather", "stormy"], "--weather takes one of"],
    [["--clients=-1"], "--clients takes a number"],
    [["--rate", "0"], "Nobody creates"],
    [["--from-before", "--table"], "plays a day of its own"],
    [["--paid", "1.5"], "--paid takes a share"],
    [["--nothing"], "--nothing"],
  ])("refuse %s", (args, message) => {
    expect(flagsIn(args)).toContain(message);
  });

  it("are explained if help is asked for", () => {
    expect(flagsIn(["--help"])).toBeUndefined();
    expect(delayIn("12")).toBeUndefined();
  });
});

describe("the plan of a day", () => {
  it("gives each stall its recovery before what comes next", () => {
    const { stallsAt, upgradeAt } = planOf({ seconds: 300, stalls: [25, 80] });
    const [first = 0, second = 0] = stallsAt;
    expect(first).toBeGreaterThan(0);
    expect(second).toBeGreaterThan(first + 25 + RECOVERY_MS / 1_000);
    expect(upgradeAt).toBeGreaterThan(second + 80 + RECOVERY_MS / 1_000);
    expect(upgradeAt).toBeLessThan(300);
  });
});

describe("figures", () => {
  const at = (begunMs: number, ms = 10, status = 200) => ({ begunMs, ms, status });
  it("outside stalls include what began before one or after its recovery", () => {
    const stalls = [{ startMs: 1_000, endMs: 26_000 }];
    const answers = [at(999, 9_000, 503), at(1_000), at(20_000), at(26_000 + RECOVERY_MS), at(26_001 + RECOVERY_MS)];
    expect(outside(answers, stalls).map(({ begunMs }) => begunMs)).toEqual([999, 26_001 + RECOVERY_MS]);
    expect(outside(answers, [])).toHaveLength(5);
  });

  it("count answers other than 2xx", () => {
    const answers = [...Array.from({ length: 98 }, (_, n) => at(n, n + 1)), at(99, 99, 503), at(100, 5_000, 503)];
    expect(figuresOf(answers)).toEqual({ answers: 100, p50: 51, p99: 5_000, errors: 2 });
    expect(otherStatuses(answers)).toBe("503 x 2");
  });

  it("have one row each in a table", () => {
    const cell = {
      clients: 16,
      weather: "usual",
      createdASecond: 66.04,
      p50: 230,
      p99: 400,
      errors: 0,
      answers: 1_000,
    };
    const text = tableText([{ ...cell, mostTimers: 2, mostHeapBytes: 30 * 2 ** 20, databaseCallsACreate: 0.345 }]);
    expect(text.split("\n").map((line) => line.trim().split(/\s{2,}/))).toEqual([
      ["database", "clients", "creates/s", "p50 ms", "p99 ms", "errors", "timers", "heap MiB", "D1 calls/create"],
      ["usual", "16", "66.0", "230", "400", "0", "2", "30.0", "0.34"],
    ]);
  });
});

describe("a heap", () => {
  const MIB = 2 ** 20;
  /** A sample every 5 s for this many minutes, rising until a collection each minute. */
  const samples = (minutes: number, baseMib: (minute: number) => number) =>
    Array.from({ length: minutes * 12 }, (_, n) => ({
      atMs: n * 5_000,
      bytes: (baseMib(n / 12) + (n % 12)) * MIB,
    }));

  it("is not a leak if collections return it to the same size", () => {
    expect(growsSteadily(samples(30, () => 20))).toBe(false);
    expect(growsSteadily(samples(30, (minute) => Math.min(40, 20 + 5 * minute)))).toBe(false);
  });

  it("is a leak if collections leave ever more, once watched long enough", () => {
    expect(growsSteadily(samples(30, (minute) => 20 + minute))).toBe(true);
    expect(growsSteadily(samples(9, (minute) => 20 + minute))).toBe(false);
    expect(growsSteadily(samples(30, (minute) => 20 + minute / 10))).toBe(false);
  });

  it("is summarised by its first, last and highest sample", () => {
    expect(heapFigures(samples(1, () => 20))).toEqual({
      firstBytes: 20 * MIB,
      lastBytes: 31 * MIB,
      mostBytes: 31 * MIB,
    });
    expect(heapFigures([])).toBeUndefined();
  });
});

describe("an idle month", () => {
  const nothing = { requests: 0, objects: 0, rowsRead: 0, rowsWritten: 0, queue: 0 };
  const hour = { ...nothing, requests: 500, rowsWritten: 70_000, queue: 2_000 };

  it("is 720 hours plus what ran by itself in the silence", () => {
    const month = monthOf({ hour, silence: { ...nothing, objects: 2 }, silenceSeconds: 60 });
    expect(month).toEqual({
      ...nothing,
      requests: 360_000,
      rowsWritten: 50_400_000,
      queue: 1_440_000,
      objects: 86_400,
    });
  });

  it("costs list prices, next to what a plan includes, and must match the page of costs", () => {
    const still = { hour, silence: nothing, silenceSeconds: 60 };
    const { text, wrong } = idleReport(still, 1_440_000);
    expect(text).toContain("together 51.08 $ by list; 0.58 $ beyond");
    expect(wrong).toEqual([]);
    expect(idleReport(still, 990_000).wrong).toHaveLength(1);
    expect(idleReport({ ...still, silence: { ...nothing, objects: 2 } }, 1_440_000).wrong).toEqual([
      "in 60 s of silence: 2 of objects",
    ]);
    expect(operationsInPage()).toBeGreaterThan(100_000);
  });
});

describe("a job that failed", () => {
  const line = '{"level":"error","work":"job","job":"expire","runs":0,"left":"failed","ms":400,"d1Calls":2}';

  it("is found in the log", () => {
    expect(jobFaultIn(line, 10_000)).toEqual({ job: "expire", fromMs: 9_600, toMs: 10_000 });
    expect(jobFaultIn(line.replace("error", "info"), 10_000)).toBeUndefined();
    expect(jobFaultIn('{"level":"error","alert":"a mail was lost"}', 10_000)).toBeUndefined();
    expect(jobFaultIn("no line of ours", 10_000)).toBeUndefined();
  });

  it("is explained only by something that happened to the deployment while it ran", () => {
    const fault = { job: "expire", fromMs: 9_600, toMs: 10_000 };
    expect(unexplained([fault], [9_700], [])).toEqual([]);
    expect(unexplained([fault], [], [{ startMs: 0, endMs: 9_650 }])).toEqual([]);
    expect(unexplained([fault], [5_000, 20_000], [{ startMs: 0, endMs: 5_000 }])).toEqual([fault]);
  });

  it("is explained by a database that was late without a stall; adjacent periods are merged", () => {
    const late: Stall[] = [];
    for (const [startMs, endMs] of [
      [0, 4_000],
      [3_000, 7_000],
      [2_000, 7_500],
      [9_000, 13_000],
    ] as const)
      addSpan(late, { startMs, endMs });
    expect(late).toEqual([
      { startMs: 0, endMs: 7_500 },
      { startMs: 9_000, endMs: 13_000 },
    ]);
    const fault = { job: "expire", fromMs: 20_000, toMs: 20_100 };
    expect(unexplained([fault], [], withAftermath(late, []))).toEqual([fault]);
    expect(unexplained([fault], [], withAftermath(late, [14_000]))).toEqual([]);
  });

  it("is explained by a stall for as long as callers are refused because of it, plus one careful period", () => {
    const stall = { startMs: 1_000, endMs: 61_000 };
    expect(withAftermath([stall], [])).toEqual([stall]);
    expect(withAftermath([stall], [500, 200_000])).toEqual([stall]);
    expect(withAftermath([stall], [30_000])).toEqual([{ startMs: 1_000, endMs: 91_000 }]);
    expect(withAftermath([stall], [30_000, 62_000, 90_000, 111_000, 150_000])).toEqual([
      { startMs: 1_000, endMs: 141_000 },
    ]);
  });
});
