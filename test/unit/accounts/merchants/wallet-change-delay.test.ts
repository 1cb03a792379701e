import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  changedDelay,
  delayHoursAt,
  pendingDelay,
  type WalletChangeDelay,
} from "../../../../src/accounts/merchants/wallet-change-delay.ts";
import { HOUR_MS } from "../../../../src/lib/time.ts";
import { RUNS } from "../../../support/property-runs.ts";

const delayOf = (hours: number, next?: readonly [number, number]): WalletChangeDelay => ({
  walletChangeDelayHours: hours,
  walletChangeDelayNextHours: next?.[0] ?? null,
  walletChangeDelayNextFromMs: next?.[1] ?? null,
});
const NOW = 1_000 * HOUR_MS;

describe("the delay of wallet changes", () => {
  const cases: readonly [string, WalletChangeDelay, number, WalletChangeDelay | undefined][] = [
    ["a longer one applies at once", delayOf(1), 48, delayOf(48)],
    ["a shorter one waits until the longer one has passed", delayOf(48), 0, delayOf(48, [0, NOW + 48 * HOUR_MS])],
    ["the current one changes nothing", delayOf(48), 48, undefined],
    ["the current one cancels a pending shorter one", delayOf(48, [0, NOW + 1]), 48, delayOf(48)],
    ["a longer one cancels a pending shorter one", delayOf(48, [0, NOW + 1]), 49, delayOf(49)],
    ["a pending shorter one, requested again, does not restart its wait", delayOf(48, [0, NOW + 1]), 0, undefined],
    [
      "a different shorter one replaces the pending one and starts a new wait",
      delayOf(48, [9, NOW + 1]),
      0,
      delayOf(48, [0, NOW + 48 * HOUR_MS]),
    ],
    ["a shorter one whose wait has ended is the current one", delayOf(48, [9, NOW]), 9, undefined],
    ["a longer one applies at once after the wait for a shorter one has ended", delayOf(48, [9, NOW]), 10, delayOf(10)],
    [
      "a shorter one waits for the delay now in effect, not for an earlier, longer one",
      delayOf(48, [9, NOW]),
      0,
      delayOf(9, [0, NOW + 9 * HOUR_MS]),
    ],
  ];
  it.each(cases)("%s", (_, before, hours, after) => {
    expect(changedDelay(before, hours, NOW)).toEqual(after);
  });

  it("becomes shorter only after the delay in effect has passed, even if changes are requested meanwhile", () => {
    const change = fc.record({ hours: fc.integer({ min: 0, max: 168 }), pauseHours: fc.integer({ min: 0, max: 60 }) });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 168 }), fc.array(change, { maxLength: 12 }), (first, changes) => {
        let delay = delayOf(first);
        let nowMs = NOW;
        const history: { atMs: number; hours: number }[] = [{ atMs: nowMs, hours: first }];
        for (const { hours, pauseHours } of changes) {
          nowMs += pauseHours * HOUR_MS;
          delay = changedDelay(delay, hours, nowMs) ?? delay;
          const present = delayHoursAt(delay, nowMs);
          for (const { atMs, hours: past } of history) {
            if (present < past) expect(nowMs - atMs).toBeGreaterThanOrEqual(past * HOUR_MS);
          }
          expect(pendingDelay(delay, nowMs)?.hours ?? -1).toBeLessThan(present);
          if (pendingDelay(delay, nowMs) === undefined) history.push({ atMs: nowMs, hours: present });
        }
      }),
      { numRuns: RUNS },
    );
  });
});
