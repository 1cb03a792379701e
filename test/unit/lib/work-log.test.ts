// Which log lines about work are written, and in which format.
import { afterEach, describe, expect, it, test, vi } from "vitest";
import { logWork, NO_COST, parseLogSample, type Work, workLine } from "../../../src/lib/work-log.ts";

const work: Work = { work: "job", ms: 3, cost: NO_COST, isFault: false, facts: { job: "expire" } };

afterEach(() => {
  vi.restoreAllMocks();
});

test.each([
  ["", 1],
  ["0", 0],
  ["1", 1],
  ["0.05", 0.05],
  ["1.5", undefined],
  ["-1", undefined],
  ["half", undefined],
])("LOG_SAMPLE=%j is parsed to the share %j (undefined if refused)", (text, share) => {
  const parsed = parseLogSample(text);
  expect(parsed.ok ? parsed.value : undefined).toBe(share);
});

describe("a log line", () => {
  it.each([
    ["0.5", 0.49, 1],
    ["0.5", 0.5, 0],
    ["0", 0, 0],
    ["1", 0.999, 1],
    [undefined, 0.999, 1],
    ["much", 0.999, 1],
  ])(
    "with LOG_SAMPLE=%s and the random number %d is written %d times; one about a fault is always written",
    (LOG_SAMPLE, random, times) => {
      const written = vi.spyOn(console, "log").mockReturnValue();
      logWork(work, { LOG_SAMPLE }, random);
      expect(written).toHaveBeenCalledTimes(times);
      logWork({ ...work, isFault: true }, { LOG_SAMPLE }, random);
      expect(written).toHaveBeenCalledTimes(times + 1);
    },
  );

  it("contains the facts, the duration and the cost of the work, with row counts rounded to one decimal", () => {
    const cost = { calls: 2, rowsRead: 10 / 3, rowsWritten: 30 };
    expect(JSON.parse(workLine({ ...work, cost }))).toEqual({
      level: "info",
      work: "job",
      job: "expire",
      ms: 3,
      d1Calls: 2,
      rowsRead: 3.3,
      rowsWritten: 30,
    });
    expect(JSON.parse(workLine({ ...work, isFault: true }))).toMatchObject({ level: "error" });
  });
});
