// How a confirmation, a dismissal, another test and a change of the settings affect the proof that alerts arrive.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ok } from "../../../src/lib/result.ts";
import { alertSettingsOf } from "../../../src/notifications/deployment-status/settings.ts";
import { type AlertProof, NEVER_TESTED, proofStateOf } from "../../../src/notifications/deployment-status/status.ts";
import { changedProof, OUTCOMES } from "../../../src/notifications/operator-alerts/alert-proof.ts";

const SET = "set";
const tested: AlertProof = { ...NEVER_TESTED, acceptedAtMs: 5, acceptedSettings: SET };
const proved: AlertProof = { ...tested, provedAtMs: 6, provedSettings: SET };
/** What a confirmation at 9 changes. */
const PROVES = { provedAtMs: 9, provedSettings: SET };

describe("the proof that alerts arrive", () => {
  it.each<readonly [string, AlertProof, (typeof OUTCOMES)[number], Partial<AlertProof> | string | null]>([
    ["an arrival without a test is refused", NEVER_TESTED, "ARRIVED", "TEST_ALERT_MISSING"],
    [
      "an arrival of a test with other settings is refused",
      { ...tested, acceptedSettings: "others" },
      "ARRIVED",
      "TEST_ALERT_MISSING",
    ],
    [
      "an arrival of a test whose settings were not recorded is refused",
      { ...tested, acceptedSettings: null },
      "ARRIVED",
      "TEST_ALERT_MISSING",
    ],
    ["an arrival after a test proves", tested, "ARRIVED", PROVES],
    ["an arrival after a dismissal proves, too", { ...tested, dismissedAtMs: 3 }, "ARRIVED", PROVES],
    ["an arrival that was confirmed since the test changes nothing", proved, "ARRIVED", null],
    ["an arrival of a later test is confirmed again", { ...proved, acceptedAtMs: 7 }, "ARRIVED", PROVES],
    [
      "an arrival proves again what was proved with other settings, even by a clock that was ahead",
      { ...proved, provedAtMs: 100, provedSettings: "others" },
      "ARRIVED",
      PROVES,
    ],
    ["a dismissal needs no test", NEVER_TESTED, "DISMISSED", { dismissedAtMs: 9 }],
    ["a second dismissal changes nothing", { ...NEVER_TESTED, dismissedAtMs: 3 }, "DISMISSED", null],
    ["a dismissal after a proof changes nothing", proved, "DISMISSED", null],
    [
      "a dismissal counts where only other settings were proved",
      { ...proved, provedSettings: "others" },
      "DISMISSED",
      { dismissedAtMs: 9 },
    ],
  ])("%s", (_, proof, outcome, expected) => {
    const changed = changedProof(proof, outcome, { nowMs: 9, alertSettings: SET });
    expect(changed.ok ? changed.value : changed.error.code).toEqual(expected);
  });

  it.each<readonly [string, AlertProof, ReturnType<typeof proofStateOf>]>([
    ["of the present settings", proved, "PROVED"],
    ["of other settings", { ...proved, provedSettings: "others" }, "UNPROVED"],
    ["of settings that were not recorded", { ...proved, provedSettings: null }, "UNPROVED"],
    ["of other settings, after a dismissal", { ...proved, provedSettings: "others", dismissedAtMs: 3 }, "UNPROVED"],
    ["of other settings, before a dismissal", { ...proved, provedSettings: "others", dismissedAtMs: 8 }, "DISMISSED"],
  ])("has the expected state if it is %s", (_, proof, state) => {
    expect(proofStateOf(proof, SET)).toBe(state);
  });

  it("is lost only when the settings change, and requires an accepted test with the same settings", () => {
    const step = fc.constantFrom(...OUTCOMES, "TEST" as const, "SET a" as const, "SET b" as const);
    fc.assert(
      fc.property(fc.array(step, { maxLength: 14 }), (steps) => {
        let proof = NEVER_TESTED;
        let alertSettings = "a";
        const accepted = new Set<string>();
        for (const [nowMs, each] of steps.entries()) {
          const before = proofStateOf(proof, alertSettings);
          if (each === "SET a" || each === "SET b") {
            alertSettings = each.slice(4);
            continue;
          }
          const test = { acceptedAtMs: nowMs, acceptedSettings: alertSettings };
          const changed = each === "TEST" ? ok(test) : changedProof(proof, each, { nowMs, alertSettings });
          if (each === "TEST") accepted.add(alertSettings);
          if (changed.ok) proof = { ...proof, ...changed.value };
          const state = proofStateOf(proof, alertSettings);
          if (before !== "UNPROVED") expect(state === before || state === "PROVED").toBe(true);
          if (state === "PROVED") expect(accepted).toContain(alertSettings);
        }
      }),
    );
  });
});

describe("the fingerprint of the alert settings", () => {
  const set = {
    MAIL_PROVIDER: '{"kind":"cloudflare"}',
    MAIL_FROM: "pay@example.com",
    ALERT_WEBHOOK_URL: "https://a.example",
  };

  it.each([
    { MAIL_PROVIDER: '{"kind":"resend","apiKey":"re_1"}' },
    { MAIL_FROM: "shop@example.com" },
    { ALERT_WEBHOOK_URL: "https://b.example" },
    { ALERT_WEBHOOK_URL: "" },
    { ALERT_WEBHOOK_SECRET: "whsec_1" },
    { MAIL_FROM: "", ALERT_WEBHOOK_URL: "pay@example.com" },
  ])("changes with %j", (change) => {
    expect(alertSettingsOf({ ...set, ...change })).not.toBe(alertSettingsOf(set));
  });

  it("does not depend on spaces around a value or on whether a variable is empty or unset, and reveals no value", () => {
    const same = { ...set, MAIL_FROM: " pay@example.com\n", ALERT_WEBHOOK_SECRET: "" };
    expect(alertSettingsOf(same)).toBe(alertSettingsOf(set));
    expect(alertSettingsOf(set)).toMatch(/^[0-9a-f]{64}$/);
  });
});
