import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type FactorGiven,
  isSessionLive,
  isSteppedUp,
  type Session,
  secondFactorsOf,
  stateAtSignIn,
  stepUpFactorsOf,
} from "../../../../src/accounts/sessions/session.ts";
import type { User } from "../../../../src/accounts/users/user.ts";
import { RUNS } from "../../../support/property-runs.ts";

const DAY_MS = 86_400_000;
const NOW_MS = Date.UTC(2026, 10, 21);

const user = (changes: Partial<User> = {}): User => ({
  id: "usr_1",
  email: "anna@example.com",
  emailKey: "anna@example.com",
  name: null,
  isEmailVerified: true,
  hasTotp: false,
  hasEmailOtp: false,
  hasPasskey: false,
  hasGoogle: false,
  hasGithub: false,
  ...changes,
});
const session = (changes: Partial<Session> = {}): Session => ({
  id: "ses_1",
  userId: "usr_1",
  state: "ACTIVE",
  signedInWith: "EMAIL_CODE",
  factor: null,
  factorAtMs: null,
  createdAtMs: NOW_MS,
  lastSeenAtMs: NOW_MS,
  revokedAtMs: null,
  ...changes,
});

describe("a session", () => {
  it.each([
    ["just opened", {}, 0, true],
    ["idle for 7 days less a moment", {}, 7 * DAY_MS - 1, true],
    ["idle for 7 days", {}, 7 * DAY_MS, false],
    ["used all the time, 30 days less a moment", { lastSeenAtMs: NOW_MS + 29.5 * DAY_MS }, 30 * DAY_MS - 1, true],
    ["used all the time, 30 days", { lastSeenAtMs: NOW_MS + 29.5 * DAY_MS }, 30 * DAY_MS, false],
    ["owing its second factor for an hour less a moment", { state: "PENDING_2FA" }, 3_600_000 - 1, true],
    ["owing its second factor for an hour", { state: "PENDING_2FA" }, 3_600_000, false],
    ["revoked", { revokedAtMs: NOW_MS }, 0, false],
  ] as const)("%s: %j after %i ms is live: %s", (_, changes, laterMs, isLive) => {
    expect(isSessionLive(session(changes), NOW_MS + laterMs)).toBe(isLive);
  });
});

describe("signing in", () => {
  it.each([
    [{}, "EMAIL_CODE", "ACTIVE"],
    [{ hasPasskey: true }, "EMAIL_CODE", "ACTIVE"],
    [{ hasTotp: true }, "EMAIL_CODE", "PENDING_2FA"],
    [{ hasEmailOtp: true }, "EMAIL_CODE", "PENDING_2FA"],
    [{ hasTotp: true }, "GOOGLE", "PENDING_2FA"],
    [{ hasEmailOtp: true }, "GITHUB", "PENDING_2FA"],
    [{ hasTotp: true, hasEmailOtp: true, hasPasskey: true }, "PASSKEY", "ACTIVE"],
  ] as const)("a person with %j by %s begins %s", (factors, method, state) => {
    expect(stateAtSignIn(user(factors), method)).toBe(state);
  });

  it("never leaves somebody owing a factor that they do not have", () => {
    fc.assert(
      fc.property(fc.boolean(), fc.boolean(), fc.boolean(), (hasTotp, hasEmailOtp, hasPasskey) => {
        const who = user({ hasTotp, hasEmailOtp, hasPasskey });
        if (stateAtSignIn(who, "GITHUB") === "PENDING_2FA") expect(secondFactorsOf(who)).not.toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });
});

describe("stepping up", () => {
  it.each([
    [{}, ["email_code"]],
    [{ hasEmailOtp: true }, ["email_code"]],
    [{ hasGoogle: true }, ["email_code"]],
    [{ hasTotp: true }, ["totp", "backup_code"]],
    [{ hasPasskey: true }, ["passkey"]],
    [{ hasPasskey: true, hasTotp: true, hasEmailOtp: true }, ["passkey", "totp", "backup_code"]],
  ] as const)("a person with %j does it by %j", (factors, names) => {
    expect(stepUpFactorsOf(user(factors))).toEqual(names);
  });

  const given = (factor: FactorGiven, agoMs: number) => session({ factor, factorAtMs: NOW_MS - agoMs });
  it.each([
    ["mail, for whoever has only mail", {}, given("EMAIL_CODE", 0), true],
    ["mail, 5 minutes ago less a moment", {}, given("EMAIL_CODE", 299_999), true],
    ["mail, 5 minutes ago", {}, given("EMAIL_CODE", 300_000), false],
    ["mail, where there is TOTP", { hasTotp: true }, given("EMAIL_CODE", 0), false],
    ["mail, where there is a passkey", { hasPasskey: true }, given("EMAIL_CODE", 0), false],
    ["TOTP", { hasTotp: true }, given("TOTP", 0), true],
    ["a backup code in place of TOTP", { hasTotp: true }, given("BACKUP_CODE", 0), true],
    ["TOTP that was removed since", { hasPasskey: true }, given("TOTP", 0), false],
    ["a passkey", { hasPasskey: true, hasTotp: true }, given("PASSKEY", 0), true],
    ["nothing, as after Google", {}, session({ signedInWith: "GOOGLE" }), false],
  ] as const)("by %s: counts or not", (_, factors, of, isEnough) => {
    expect(isSteppedUp(of, user(factors), NOW_MS)).toBe(isEnough);
  });
});
