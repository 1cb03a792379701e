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
  isOperator: false,
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
    ["idle for 1 ms less than 7 days", {}, 7 * DAY_MS - 1, true],
    ["idle for 7 days", {}, 7 * DAY_MS, false],
    ["in use, 1 ms less than 30 days old", { lastSeenAtMs: NOW_MS + 29.5 * DAY_MS }, 30 * DAY_MS - 1, true],
    ["in use, 30 days old", { lastSeenAtMs: NOW_MS + 29.5 * DAY_MS }, 30 * DAY_MS, false],
    ["waiting for its second factor for 1 ms less than an hour", { state: "PENDING_2FA" }, 3_600_000 - 1, true],
    ["waiting for its second factor for an hour", { state: "PENDING_2FA" }, 3_600_000, false],
    ["revoked", { revokedAtMs: NOW_MS }, 0, false],
  ] as const)("%s (%j, after %i ms) is live: %s", (_, changes, laterMs, isLive) => {
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
  ] as const)("by a user with %j through %s opens a session that is %s", (factors, method, state) => {
    expect(stateAtSignIn(user(factors), method)).toBe(state);
  });

  it("never requires a second factor that the user does not have", () => {
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
  ] as const)("for a user with %j is possible with %j", (factors, names) => {
    expect(stepUpFactorsOf(user(factors))).toEqual(names);
  });

  const given = (factor: FactorGiven, agoMs: number) => session({ factor, factorAtMs: NOW_MS - agoMs });
  it.each([
    ["an emailed code counts for a user without other factors", {}, given("EMAIL_CODE", 0), true],
    ["an emailed code counts for 5 minutes", {}, given("EMAIL_CODE", 299_999), true],
    ["an emailed code no longer counts after 5 minutes", {}, given("EMAIL_CODE", 300_000), false],
    ["an emailed code does not count for a user with TOTP", { hasTotp: true }, given("EMAIL_CODE", 0), false],
    ["an emailed code does not count for a user with a passkey", { hasPasskey: true }, given("EMAIL_CODE", 0), false],
    ["TOTP counts for a user with TOTP", { hasTotp: true }, given("TOTP", 0), true],
    ["a backup code counts in place of TOTP", { hasTotp: true }, given("BACKUP_CODE", 0), true],
    ["TOTP does not count once it is removed", { hasPasskey: true }, given("TOTP", 0), false],
    [
      "a passkey counts for a user with a passkey and TOTP",
      { hasPasskey: true, hasTotp: true },
      given("PASSKEY", 0),
      true,
    ],
    ["signing in with Google alone does not count", {}, session({ signedInWith: "GOOGLE" }), false],
  ] as const)("%s", (_, factors, of, isEnough) => {
    expect(isSteppedUp(of, user(factors), NOW_MS)).toBe(isEnough);
  });
});
