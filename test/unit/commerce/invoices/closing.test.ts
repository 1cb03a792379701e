import { describe, expect, it, test } from "vitest";
import {
  ASLEEP_AFTER_MS,
  closingOf,
  type NetworkWatch,
  STALLED_AFTER_MS,
} from "../../../../src/commerce/invoices/closing.ts";
import { HOUR_MS } from "../../../../src/lib/time.ts";

const expiresAtMs = 1_000;
const NOW = 100 * HOUR_MS;
const none: NetworkWatch = { kind: "none", network: "BTC" };
function cursor(passedMs: number, lastMovedAtMs = NOW, tickedAtMs: number | null = NOW): NetworkWatch {
  return { kind: "cursor", network: "ETH", passedMs, lastMovedAtMs, tickedAtMs };
}

describe("closing", () => {
  const stuck = (stuckPassedMs: number): NetworkWatch => ({
    ...{ kind: "cursor", network: "ETH", passedMs: NOW, lastMovedAtMs: 0, tickedAtMs: NOW },
    stuckPassedMs,
  });
  const cases: [why: string, nowMs: number, watches: NetworkWatch[], closes: boolean, stalled: boolean][] = [
    ["no method was activated, at expiresAt", expiresAtMs, [], false, false],
    ["no method was activated, a millisecond later", expiresAtMs + 1, [], true, false],
    ["a network without a source: the clock decides", expiresAtMs + 1, [none], true, false],
    ["a cursor far ahead does not close before the clock", expiresAtMs, [cursor(NOW)], false, false],
    ["a cursor exactly at expiresAt", NOW, [cursor(expiresAtMs)], false, false],
    ["a cursor a millisecond past it", NOW, [cursor(expiresAtMs + 1)], true, false],
    ["one of two networks is behind", NOW, [cursor(expiresAtMs + 1), cursor(expiresAtMs)], false, false],
    ["a network behind beside one without a source", NOW, [none, cursor(expiresAtMs)], false, false],
    ["behind, and standing for just under six hours", NOW, [cursor(0, NOW - STALLED_AFTER_MS + 1)], false, false],
    ["behind, and standing for six hours", NOW, [cursor(0, NOW - STALLED_AFTER_MS)], true, true],
    ["standing for six hours, and looked at just in time", NOW, [cursor(0, 0, NOW - ASLEEP_AFTER_MS + 1)], true, true],
    ["standing for six hours, and not looked at for long", NOW, [cursor(0, 0, NOW - ASLEEP_AFTER_MS)], false, false],
    ["standing for six hours, and never looked at", NOW, [cursor(0, 0, null)], false, false],
    ["past, and not looked at since", NOW, [cursor(expiresAtMs + 1, 0, null)], true, false],
    ["one stands, another is behind and moves", NOW, [cursor(0, 0), cursor(0)], false, false],
    ["one stands, another is past", NOW, [cursor(0, 0), cursor(expiresAtMs + 1)], true, true],
    ["an address that is read at its own pace, exactly at expiresAt", NOW, [stuck(expiresAtMs)], false, false],
    ["an address that is read at its own pace, a millisecond past it", NOW, [stuck(expiresAtMs + 1)], true, false],
    ["such an address beside a network that has stood for hours", NOW, [stuck(0), cursor(0, 0)], false, false],
    ["past, and standing since", NOW, [cursor(expiresAtMs + 1, 0)], true, false],
  ];

  test.each(cases)("%s", (_why, nowMs, watches, closes, isStalled) => {
    const closing = closingOf({ expiresAtMs, closedAtMs: null, watches, nowMs });
    expect(closing).toEqual({ closedAtMs: closes ? nowMs : null, isStalled });
  });

  it("waits six hours for a cursor", () => {
    expect(STALLED_AFTER_MS).toBe(6 * HOUR_MS);
  });

  it("keeps the moment of closing, also when a cursor walks back", () => {
    const closing = closingOf({ expiresAtMs, closedAtMs: 1_500, watches: [cursor(0)], nowMs: NOW });
    expect(closing).toEqual({ closedAtMs: 1_500, isStalled: false });
  });
});
