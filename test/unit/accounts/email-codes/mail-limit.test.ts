import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { addressWaitMs, knownBrowserWaitMs, mailWaitMs } from "../../../../src/accounts/email-codes/mail-limit.ts";
import { DAY_MS, HOUR_MS } from "../../../../src/lib/time.ts";
import { RUNS } from "../../../support/property-runs.ts";

const NOW_MS = 1_800_000_000_000;
const ANN = { purpose: "SIGN_IN", mailbox: "ann", times: 1 } as const;
const sent = (mailbox: string, count: number, ageMs: number) =>
  Array.from({ length: count }, (_, i) => ({ mailbox, createdAtMs: NOW_MS - ageMs - i }));

describe("mailWaitMs", () => {
  test.each([
    ["no wait if nothing was sent", [], 0],
    ["no wait after four emails to the address", sent("ann", 4, 0), 0],
    ["a wait after five emails to the address just now", sent("ann", 5, 0), HOUR_MS - 4],
    ["no wait after five emails to the address, the first an hour ago", sent("ann", 5, HOUR_MS - 4), 0],
    ["no wait after five emails to another address", sent("bob", 5, 0), 0],
    ["a wait after twenty emails to other addresses", sent("bob", 20, 1_000), HOUR_MS - 1_019],
    ["no wait after nineteen emails to other addresses", sent("bob", 19, 0), 0],
    ["a wait if both limits are reached", [...sent("ann", 5, 0), ...sent("bob", 15, 1_000)], HOUR_MS - 4],
  ])("%s", (_, codes, waitMs) => {
    expect(mailWaitMs(codes, ANN, NOW_MS)).toBe(waitMs);
  });

  test("a step-up is limited only by the caller's 20 emails, not by the address's five", () => {
    const stepUp = { ...ANN, purpose: "STEP_UP" } as const;
    expect(mailWaitMs(sent("ann", 19, 0), stepUp, NOW_MS)).toBe(0);
    expect(mailWaitMs(sent("ann", 20, 0), stepUp, NOW_MS)).toBe(HOUR_MS - 19);
  });

  test.each([
    ["no wait after 19 emails to the address", sent("ann", 19, 0), 0],
    ["a wait after 20 emails to the address", sent("ann", 20, 0), HOUR_MS - 19],
    ["no wait after 79 emails to other addresses", sent("bob", 79, 0), 0],
    ["a wait after 80 emails to other addresses", sent("bob", 80, 0), HOUR_MS - 79],
  ])("a network that counts as four callers has four times the limits: %s", (_, codes, waitMs) => {
    expect(mailWaitMs(codes, { ...ANN, times: 4 }, NOW_MS)).toBe(waitMs);
  });

  test("an email may be sent after the wait, and not 1 ms earlier", () => {
    const code = fc.record({
      mailbox: fc.constantFrom("ann", "bob", "eve"),
      createdAtMs: fc.integer({ min: NOW_MS - 2 * HOUR_MS, max: NOW_MS }),
    });
    fc.assert(
      fc.property(fc.array(code, { maxLength: 40 }), (codes) => {
        const waitMs = mailWaitMs(codes, ANN, NOW_MS);
        expect(mailWaitMs(codes, ANN, NOW_MS + waitMs)).toBe(0);
        if (waitMs > 0) expect(mailWaitMs(codes, ANN, NOW_MS + waitMs - 1)).toBe(1);
        expect(mailWaitMs(codes.toReversed(), ANN, NOW_MS)).toBe(waitMs);
      }),
      { numRuns: RUNS },
    );
  });
});

describe("addressWaitMs", () => {
  test.each([
    ["no wait after 29 emails to the address today", 29, 0, 0],
    ["a wait after 30 emails to the address just now", 30, 0, DAY_MS - 29],
    ["no wait after 30 emails to the address, the first a day ago", 30, DAY_MS - 29, 0],
  ])("%s", (_, count, ageMs, waitMs) => {
    expect(addressWaitMs(sent("ann", count, ageMs), NOW_MS)).toBe(waitMs);
  });
});

describe("knownBrowserWaitMs", () => {
  const asked = (knownBrowser: string, count: number) =>
    sent("ann", count, 0).map(({ createdAtMs }) => ({ knownBrowser, createdAtMs }));
  const others = (count: number) => Array.from({ length: count }, (_, n) => asked(`other ${n}`, 1)).flat();

  test.each([
    ["no wait if the browser requested 19 emails", asked("mine", 19), 0],
    ["a wait if the browser requested 20 emails just now", asked("mine", 20), HOUR_MS - 19],
    ["no wait if another browser requested 20 emails", asked("other", 20), 0],
    ["no wait if other browsers requested 99 emails", others(99), 0],
    ["a wait if other browsers requested 100 emails", others(100), HOUR_MS],
  ])("%s", (_, codes, waitMs) => {
    expect(knownBrowserWaitMs(codes, "mine", NOW_MS)).toBe(waitMs);
  });
});
