import { describe, expect, it, test } from "vitest";
import type { NetworkWatch } from "../../../../src/commerce/cursors/cursor.ts";
import { ASLEEP_AFTER_MS, closingOf, STALLED_AFTER_MS } from "../../../../src/commerce/settlement/closing.ts";
import { HOUR_MS } from "../../../../src/lib/time.ts";

const expiresAtMs = 1_000;
const NOW = 100 * HOUR_MS;
const none: NetworkWatch = { kind: "none", network: "BTC" };
function cursor(passedMs: number, lastMovedAtMs = NOW, tickedAtMs: number | null = NOW): NetworkWatch {
  return { kind: "cursor", network: "ETH", passedMs, lastMovedAtMs, tickedAtMs };
}

describe("an invoice", () => {
  const stuck = (stuckPassedMs: number): NetworkWatch => ({
    kind: "cursor",
    network: "ETH",
    passedMs: NOW,
    lastMovedAtMs: 0,
    tickedAtMs: NOW,
    stuckPassedMs,
  });
  const cases: [why: string, nowMs: number, watches: NetworkWatch[], closes: boolean, stalled: boolean][] = [
    ["stays open at expiresAt when no method was activated", expiresAtMs, [], false, false],
    ["closes a millisecond after expiresAt when no method was activated", expiresAtMs + 1, [], true, false],
    ["closes by the clock when its network has no source", expiresAtMs + 1, [none], true, false],
    ["stays open until expiresAt, even when the cursor is far ahead", expiresAtMs, [cursor(NOW)], false, false],
    ["stays open while the cursor is exactly at expiresAt", NOW, [cursor(expiresAtMs)], false, false],
    ["closes once the cursor is a millisecond past expiresAt", NOW, [cursor(expiresAtMs + 1)], true, false],
    ["stays open while one of two networks lags", NOW, [cursor(expiresAtMs + 1), cursor(expiresAtMs)], false, false],
    ["stays open while one network lags and the other has no source", NOW, [none, cursor(expiresAtMs)], false, false],
    [
      "stays open while the cursor has not moved for just under 6 h",
      NOW,
      [cursor(0, NOW - STALLED_AFTER_MS + 1)],
      false,
      false,
    ],
    [
      "closes as stalled when a lagging cursor has not moved for 6 h",
      NOW,
      [cursor(0, NOW - STALLED_AFTER_MS)],
      true,
      true,
    ],
    [
      "closes as stalled when the last tick is just recent enough",
      NOW,
      [cursor(0, 0, NOW - ASLEEP_AFTER_MS + 1)],
      true,
      true,
    ],
    [
      "stays open when the last tick of the stalled cursor is too old",
      NOW,
      [cursor(0, 0, NOW - ASLEEP_AFTER_MS)],
      false,
      false,
    ],
    ["stays open when the unmoved cursor was never ticked", NOW, [cursor(0, 0, null)], false, false],
    ["closes on a cursor past expiresAt that was never ticked", NOW, [cursor(expiresAtMs + 1, 0, null)], true, false],
    ["stays open when one cursor is stalled and another lags but moves", NOW, [cursor(0, 0), cursor(0)], false, false],
    [
      "closes as stalled when one cursor is stalled and the other is past expiresAt",
      NOW,
      [cursor(0, 0), cursor(expiresAtMs + 1)],
      true,
      true,
    ],
    ["stays open while an address with its own cursor is at expiresAt", NOW, [stuck(expiresAtMs)], false, false],
    ["closes once an address with its own cursor is past expiresAt", NOW, [stuck(expiresAtMs + 1)], true, false],
    ["stays open while an address with its own cursor lags", NOW, [stuck(0), cursor(0, 0)], false, false],
    ["closes, not as stalled, on an unmoved cursor past expiresAt", NOW, [cursor(expiresAtMs + 1, 0)], true, false],
  ];

  test.each(cases)("%s", (_why, nowMs, watches, closes, isStalled) => {
    const closing = closingOf({ expiresAtMs, closedAtMs: null, watches, nowMs });
    expect(closing).toEqual({ closedAtMs: closes ? nowMs : null, isStalled });
  });

  it("waits six hours for a cursor that does not move", () => {
    expect(STALLED_AFTER_MS).toBe(6 * HOUR_MS);
  });

  it("keeps its closing time when a cursor goes back", () => {
    const closing = closingOf({ expiresAtMs, closedAtMs: 1_500, watches: [cursor(0)], nowMs: NOW });
    expect(closing).toEqual({ closedAtMs: 1_500, isStalled: false });
  });
});
