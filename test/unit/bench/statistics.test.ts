import { describe, expect, test } from "vitest";
import { pairedRatio, percentile, spread } from "../../../bench/statistics.ts";

describe("the benchmark statistics", () => {
  test("report a spread as the median, the lowest and the highest round", () => {
    expect(spread([5, 1, 3])).toEqual({ median: 3, low: 1, high: 5 });
  });

  test("report a percentile as one of the measured values, without interpolation", () => {
    const sorted = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
    expect([0, 0.5, 0.9, 1].map((fraction) => percentile(sorted, fraction))).toEqual([1, 5, 9, 10]);
  });

  test("compare rounds in pairs, so that a slow pair does not change the ratio", () => {
    expect(pairedRatio([10, 5, 20], [20, 10, 40])).toEqual({ median: 0.5, low: 0.5, high: 0.5 });
    expect(() => pairedRatio([1], [1, 2])).toThrow("do not pair");
  });
});
