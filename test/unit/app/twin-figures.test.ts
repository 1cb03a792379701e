// The twin's flags and its report: the hours of a day, figures outside stalls, and heaps.
import { describe, expect, it } from "vitest";
import { cpuMsIn } from "../../twin/cpu.ts";
import { flagsIn, HELP, planOf } from "../../twin/flags.ts";
import { growsSteadily, heapFigures, MOST_HEAP_BYTES } from "../../twin/heap.ts";
import { idleReport, monthOf, operationsInPage } from "../../twin/idle.ts";
import { addSpan, figuresOf, otherStatuses, outside, RECOVERY_MS, type Stall } from "../../twin/measured.ts";
import { slowOf, usedBy, wrongOf } from "../../twin/report.ts";
import { tableText } from "../../twin/table.ts";
import { jobFaultIn, unexcused, unexplained, withAftermath } from "../../twin/troubles.ts";
import { delayIn, FAR, USUAL } from "../../twin/weather.ts";

describe("the twin's flags", () => {
  it.each([
    ["a number of stalls", ["--stalls", "2"], { stalls: [25, 25] }],
    ["the length of stalls", ["--stalls", "1", "--stall-seconds", "80"], { stalls: [80] }],
    ["several stalls of different lengths", ["--stalls", "25,80", "--minutes", "6"], { stalls: [25, 80] }],
    ["no stalls", ["--stalls", "0"], { stalls: [] }],
    ["clients instead of a rate", ["--clients", "16"], { clients: 16, rate: 0 }],
    ["the most unanswered creates", ["--rate", "50", "--most-open", "16"], { rate: 50, mostOpen: 16 }],
    ["how objects switch to new code", ["--strategy", "deferred"], { strategy: "deferred" }],
    ["clients and a rate", ["--clients", "16", "--rate", "3"], { clients: 16, rate: 3 }],
    [
      "a latency for reads alone",
      ["--read", "12/60", "--weather", "far"],
      { weather: { ...FAR, read: { p50: 12, p99: 60 }, faults: 0.002 } },
    ],
    [
      "a latency for writes",
      ["--write", "22/90.5"],
      { weather: { ...USUAL, write: { p50: 22, p99: 90.5 }, faults: 0.002 } },
    ],
    [
      "faults of objects",
      ["--resets", "0", "--recycle", "60", "--clocks=-500"],
      { resets: 0, recycleEveryMs: 60_000, clockMs: -500 },
    ],
    [
      "a pause in the crons, and a limit on latency",
      ["--cron-gap", "50", "--p99", "500"],
      { cronGapMs: 50_000, p99LimitMs: 500 },
    ],
    ["the table mode", ["--table", "--seconds", "5"], { mode: "table", spanSeconds: 5 }],
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
    [["--most-open", "0"], "--most-open takes a number of at least 1"],
    [["--most-open", "1.5"], "--most-open takes a whole number"],
    [["--most-open", "10001"], "at most 10000"],
    [["--most-open", "16", "--clients", "4"], "--most-open limits the creates of --rate"],
    [["--strategy", "soon"], "--strategy takes immediate or deferred"],
    [["--from-before", "--table"], "plays a day of its own"],
    [["--paid", "1.5"], "--paid takes a share"],
    [["--nothing"], "--nothing"],
  ])("refuse %s", (args, message) => {
    expect(flagsIn(args)).toContain(message);
  });

  it("are explained by --help, and a delay without two numbers is refused", () => {
    expect(flagsIn(["--help"])).toBeUndefined();
    expect(HELP).toMatch(/--most-open <n> .*at most 10000/);
    // If the member existed with the value undefined, it would override the default of a day.
    expect(flagsIn([])).not.toHaveProperty("mostOpen");
    expect(delayIn("12")).toBeUndefined();
  });
});

describe("the plan of a day", () => {
  it("leaves enough time after each stall to recover before the next event", () => {
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
  it("outside stalls include only requests that began before a stall or after recovery from it", () => {
    const stalls = [{ startMs: 1_000, endMs: 26_000 }];
    const answers = [at(999, 9_000, 503), at(1_000), at(20_000), at(26_000 + RECOVERY_MS), at(26_001 + RECOVERY_MS)];
    expect(outside(answers, stalls).map(({ begunMs }) => begunMs)).toEqual([999, 26_001 + RECOVERY_MS]);
    expect(outside(answers, [])).toHaveLength(5);
  });

  it("count responses other than 2xx", () => {
    const answers = [...Array.from({ length: 98 }, (_, n) => at(n, n + 1)), at(99, 99, 503), at(100, 5_000, 503)];
    expect(figuresOf(answers)).toEqual({ answers: 100, p50: 51, p99: 5_000, errors: 2 });
    expect(otherStatuses(answers)).toBe("503 x 2");
  });

  it("for creating invoices are a finding if they exceed a limit; requests delayed by a stall are not counted", () => {
    const stalls = [{ startMs: 1_000, endMs: 26_000 }];
    const answers = [...Array.from({ length: 98 }, (_, n) => at(n, 100)), at(99, 600), at(100, 700)];
    expect(slowOf(answers, stalls, 0)).toEqual([]);
    expect(slowOf(answers, stalls, 700)).toEqual([]);
    expect(slowOf(answers, stalls, 500)).toEqual(["99 of 100 creates outside stalls took 700 ms, not 500"]);
    expect(slowOf([at(0), at(1_001, 9_000)], stalls, 500)).toEqual([]);
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
  /** A sample every 5 s for `minutes` minutes, rising until a garbage collection each minute. */
  const samples = (minutes: number, baseMib: (minute: number) => number) =>
    Array.from({ length: minutes * 12 }, (_, n) => ({
      atMs: n * 5_000,
      bytes: (baseMib(n / 12) + (n % 12)) * MIB,
    }));

  it("is not a leak if garbage collections return it to the same size", () => {
    expect(growsSteadily(samples(30, () => 20))).toBe(false);
    expect(growsSteadily(samples(30, (minute) => Math.min(40, 20 + 5 * minute)))).toBe(false);
  });

  it("is a leak if each garbage collection leaves more than the last, over a long enough time", () => {
    expect(growsSteadily(samples(30, (minute) => 20 + minute))).toBe(true);
    expect(growsSteadily(samples(9, (minute) => 20 + minute))).toBe(false);
    expect(growsSteadily(samples(30, (minute) => 20 + minute / 10))).toBe(false);
  });

  it("is reported as a finding if it exceeds the memory limit of an isolate", () => {
    const rows = (bytes: number) => [{ name: "edge", samples: [{ atMs: 0, bytes }] }];
    const watched = (bytes: number) => ({
      timers: new Map(),
      jobFaults: [],
      refusedAt: [],
      troubles: new Map(),
      gate: { counts: { failedAt: [] }, stalls: [], late: [] },
      heap: { rows: rows(bytes) },
    });
    const wrong = (bytes: number) => wrongOf(watched(bytes) as unknown as Parameters<typeof wrongOf>[0]);
    expect(wrong(MOST_HEAP_BYTES)).toEqual([]);
    expect(wrong(MOST_HEAP_BYTES + MIB)).toEqual(["the heap of the edge reached 129.0 MiB"]);
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
  const nothing = { requests: 0, objects: 0, rowsRead: 0, rowsWritten: 0, queue: 0, cpuMs: 0, objectGbS: 0 };
  const hour = { ...nothing, requests: 500, rowsWritten: 70_000, queue: 2_000 };

  it("is 720 times the measured hour, plus what the objects do when no cron runs", () => {
    const month = monthOf({ hour, silence: { ...nothing, objects: 2 }, silenceSeconds: 60 });
    expect(month).toEqual({
      ...nothing,
      requests: 360_000,
      rowsWritten: 50_400_000,
      queue: 1_440_000,
      objects: 86_400,
    });
  });

  it("is priced both in full and beyond the plan's allowance, and must match the page about costs", () => {
    const still = { hour, silence: nothing, silenceSeconds: 60 };
    const { text, wrong } = idleReport(still, 1_440_000);
    expect(text).toContain("together 51.08 $ by list; 0.58 $ beyond");
    expect(wrong).toEqual([]);
    expect(idleReport(still, 990_000).wrong).toHaveLength(1);
    expect(idleReport({ ...still, silence: { ...nothing, objects: 2 } }, 1_440_000).wrong).toEqual([
      "in 60 s of silence: 2 of objects",
    ]);
    // 720 hours of 50,000 ms of CPU and of 1,000 GB-s; the plan includes 30 million and 400,000.
    const busy = {
      hour: { ...nothing, queue: 2_000, cpuMs: 50_000, objectGbS: 1_000 },
      silence: nothing,
      silenceSeconds: 60,
    };
    expect(idleReport(busy, 1_440_000).text).toContain("together 10.30 $ by list; 4.30 $ beyond");
    const awake = { ...busy, silence: { ...nothing, cpuMs: 20, objectGbS: 1 } };
    expect(idleReport(awake, 1_440_000).wrong).toEqual([]);
    expect(operationsInPage()).toBeGreaterThan(100_000);
  });
});

describe("usage", () => {
  it("includes the CPU time of the edge, and what objects are billed while they are awake", () => {
    const calls = { objects: 10, requests: 5, messages: 2, crons: 1, awakeMs: 30_000 };
    const gate = { counts: { rowsRead: 7, rowsWritten: 3 } };
    const twin = { calls, gate, cpu: { ms: 1_234 } } as unknown as Parameters<typeof usedBy>[0];
    expect(usedBy(twin)).toEqual({
      requests: 8,
      objects: 10,
      rowsRead: 7,
      rowsWritten: 3,
      queue: 6,
      cpuMs: 1_234,
      objectGbS: 3.84,
    });
  });

  it("of CPU is read from the ticks of a process, whatever its name is", () => {
    const stat = "77 (worker) d) S 1 77 77 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 9 0 123 456 789";
    expect(cpuMsIn(stat)).toBe(3_000);
  });
});

describe("a job that failed", () => {
  const NONE = { calls: [], moments: [], spans: [] };
  const line = '{"level":"error","work":"job","job":"expire","runs":0,"left":"failed","ms":400,"d1Calls":2}';

  it("is found in the log", () => {
    expect(jobFaultIn(line, 10_000)).toEqual({ job: "expire", fromMs: 9_600, toMs: 10_000 });
    expect(jobFaultIn(line.replace("error", "info"), 10_000)).toBeUndefined();
    expect(jobFaultIn('{"level":"error","alert":"a mail was lost"}', 10_000)).toBeUndefined();
    expect(jobFaultIn("no line of ours", 10_000)).toBeUndefined();
  });

  it("is explained only by a fault that overlaps with its run", () => {
    const fault = { job: "expire", fromMs: 9_600, toMs: 10_000 };
    expect(unexplained([fault], { ...NONE, calls: [9_700] })).toEqual([]);
    expect(unexplained([fault], { ...NONE, moments: [9_700] })).toEqual([]);
    expect(unexplained([fault], { ...NONE, spans: [{ startMs: 0, endMs: 9_650 }] })).toEqual([]);
    const elsewhere = { calls: [5_000, 20_000], moments: [5_000], spans: [{ startMs: 0, endMs: 5_000 }] };
    expect(unexplained([fault], elsewhere)).toEqual([fault]);
  });

  it("is not excused by a single failed call that belongs to another job", () => {
    const [one, other] = [
      { job: "expire", fromMs: 9_600, toMs: 10_000 },
      { job: "release", fromMs: 9_000, toMs: 10_100 },
    ];
    expect(unexplained([one, other], { ...NONE, calls: [9_700] })).toEqual([other]);
    expect(unexplained([other, one], { ...NONE, calls: [9_700, 9_800] })).toEqual([]);
    // Calls are assigned so that as many jobs as possible are excused: the later call only fits the second job.
    const [early, late] = [
      { job: "expire", fromMs: 0, toMs: 8_000 },
      { job: "release", fromMs: 0, toMs: 20_000 },
    ];
    expect(unexplained([late, early], { ...NONE, calls: [15_000, 5_000] })).toEqual([]);
    // The restart of an object may fail several jobs.
    expect(unexplained([one, other], { ...NONE, moments: [9_700] })).toEqual([]);
  });

  it("is a finding without an injected fault, but is only reported if this machine was too slow", () => {
    const fault = { job: "expire", fromMs: 9_600, toMs: 10_000 };
    const watched = (late: readonly Stall[], failedAt: readonly number[], troubles: ReadonlyMap<string, number[]>) => ({
      gate: { counts: { failedAt }, stalls: [], late },
      jobFaults: [fault],
      refusedAt: [],
      troubles,
    });
    const none = new Map<string, number[]>();
    expect(unexcused(watched([], [], none))).toEqual({ uncaused: [fault], overloaded: [] });
    expect(unexcused(watched([], [], new Map([["lost", [30_000]]])))).toEqual({ uncaused: [fault], overloaded: [] });
    expect(unexcused(watched([], [9_700], none))).toEqual({ uncaused: [], overloaded: [] });
    expect(unexcused(watched([], [], new Map([["refused", [9_700]]])))).toEqual({ uncaused: [], overloaded: [] });
    expect(unexcused(watched([{ startMs: 8_000, endMs: 12_000 }], [], none))).toEqual({
      uncaused: [],
      overloaded: [fault],
    });
  });

  it("is explained by a slow database even without a stall, and overlapping slow periods are merged", () => {
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
    expect(unexplained([fault], { ...NONE, spans: withAftermath(late, []) })).toEqual([fault]);
    expect(unexplained([fault], { ...NONE, spans: withAftermath(late, [14_000]) })).toEqual([]);
  });

  it("is explained by a stall until 30 seconds after the last refusal that the stall caused", () => {
    const stall = { startMs: 1_000, endMs: 61_000 };
    expect(withAftermath([stall], [])).toEqual([stall]);
    expect(withAftermath([stall], [500, 200_000])).toEqual([stall]);
    expect(withAftermath([stall], [30_000])).toEqual([{ startMs: 1_000, endMs: 91_000 }]);
    expect(withAftermath([stall], [30_000, 62_000, 90_000, 111_000, 150_000])).toEqual([
      { startMs: 1_000, endMs: 141_000 },
    ]);
  });
});
