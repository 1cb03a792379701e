import { describe, expect, it } from "vitest";
import { proofBody } from "../../../../src/accounts/factors/contract.ts";
import { codeKindOf, factorsFor, wrongFactor } from "../../../../src/accounts/factors/factor-proof.ts";
import { guessScopes, retryAfterSeconds } from "../../../../src/accounts/factors/guess-limit.ts";
import { factorGiven, type ProvedSession } from "../../../../src/accounts/sessions/session.ts";
import type { User } from "../../../../src/accounts/users/user.ts";

const user = (has: Partial<User>): User => ({
  id: "usr_1",
  email: "a@example.com",
  emailKey: "a@example.com",
  name: null,
  isEmailVerified: true,
  isOperator: false,
  hasTotp: false,
  hasEmailOtp: false,
  hasPasskey: false,
  hasGoogle: false,
  hasGithub: false,
  ...has,
});
const session = (state: ProvedSession["state"]): ProvedSession => ({
  id: "ses_1",
  userId: "usr_1",
  tokenHash: "",
  state,
  signedInWith: "EMAIL_CODE",
  factor: null,
  factorAtMs: null,
  createdAtMs: 0,
  lastSeenAtMs: 0,
  revokedAtMs: null,
});

describe("the accepted factors", () => {
  it.each([
    ["no second factor", {}, ["email_code"], []],
    ["email OTP", { hasEmailOtp: true }, ["email_code"], ["email_code"]],
    ["TOTP", { hasTotp: true }, ["totp", "backup_code"], ["totp", "backup_code"]],
    [
      "TOTP and email OTP",
      { hasTotp: true, hasEmailOtp: true },
      ["totp", "backup_code"],
      ["totp", "backup_code", "email_code"],
    ],
    ["a passkey", { hasPasskey: true }, ["passkey"], ["passkey"]],
    ["a passkey and email OTP", { hasPasskey: true, hasEmailOtp: true }, ["passkey"], ["passkey", "email_code"]],
  ] as const)("are as expected for a user with %s", (_, has, stepUp, secondFactor) => {
    const of = (state: ProvedSession["state"]) => ({ user: user(has), session: session(state) });
    expect(factorsFor("STEP_UP", of("ACTIVE"))).toEqual(stepUp);
    expect(factorsFor("SECOND_FACTOR", of("PENDING_2FA"))).toEqual(secondFactor);
    expect(factorsFor("SECOND_FACTOR", of("ACTIVE"))).toEqual([]);
  });

  it("cause an error that depends on their kind when wrong: INVALID_CODE for every kind of code, PASSKEY_REFUSED for a passkey", () => {
    expect(["totp", "backup_code", "email_code"].map((name) => wrongFactor(kind(name)).code)).toEqual(
      new Array(3).fill("INVALID_CODE"),
    );
    expect(wrongFactor("passkey").code).toBe("PASSKEY_REFUSED");
    expect(factorGiven("backup_code")).toBe("BACKUP_CODE");
  });
});

const kind = (name: string) => {
  if (name === "totp" || name === "backup_code" || name === "email_code") return name;
  throw new Error(name);
};

describe("the body of a factor proof", () => {
  it.each([
    ["012345", "totp"],
    ["01234567", "email_code"],
    ["0123456789", "backup_code"],
    ["ABCDE-FGHJK", "backup_code"],
    ["1234567", "backup_code"],
  ])("with the code %s is a proof by %s", (code, factor) => {
    expect(codeKindOf(code)).toBe(factor);
    expect(proofBody().parse({ code })).toEqual({ factor, code });
  });

  const credential = {
    id: "AAAA",
    rawId: "AAAA",
    type: "public-key",
    response: { clientDataJSON: "AAAA", authenticatorData: "AAAA", signature: "AAAA" },
  };

  it("may have spaces in its code, and may state its method", () => {
    expect(proofBody().parse({ code: " 012 345 " })).toEqual({ factor: "totp", code: "012345" });
    expect(proofBody().parse({ code: "012345", method: "backup_code" })).toEqual({
      factor: "backup_code",
      code: "012345",
    });
    expect(proofBody().parse({ credential })).toEqual({ factor: "passkey", credential });
    expect(proofBody().parse({ credential, method: "passkey" })).toEqual({ factor: "passkey", credential });
  });

  it.each([
    {},
    { method: "totp" },
    { method: "passkey", code: "012345" },
    { method: "totp", credential },
    { code: "012345", credential },
    { code: "" },
    { code: "  " },
    { code: "1".repeat(61) },
    { code: 12345 },
    { code: "012345", method: "sms" },
    { code: "012345", mehtod: "totp" },
  ])("is refused unless it contains exactly one factor: %j", (body) => {
    expect(proofBody().safeParse(body).success).toBe(false);
  });
});

describe("the guess limits that an attempt counts against", () => {
  const session = { id: "ses_1", userId: "usr_1", factor: null } as const;
  const names = (factor: "EMAIL_CODE" | "TOTP" | "BACKUP_CODE" | "PASSKEY" | null, ip: string | null) =>
    guessScopes({ ...session, factor }, ip).map(({ name }) => name);

  it.each([null, "EMAIL_CODE"] as const)(
    "are the session's, the network's and the user's while the session's factor is %s",
    (factor) => {
      expect(names(factor, "2001:db8:1:2:3::4")).toEqual([
        "session ses_1",
        "network usr_1 2001:db8:1:2",
        "person usr_1",
      ]);
      expect(names(factor, null)).toEqual(["session ses_1", "network usr_1 unknown", "person usr_1"]);
    },
  );

  it.each(["TOTP", "BACKUP_CODE", "PASSKEY"] as const)(
    "are only the session's once the session's factor is %s",
    (factor) => {
      expect(names(factor, "198.51.100.7")).toEqual(["session ses_1"]);
    },
  );
});

describe("the wait after too many wrong guesses", () => {
  it("is in whole seconds until the window ends, and never 0", () => {
    expect(retryAfterSeconds(901_000, 1_000)).toBe(900);
    expect(retryAfterSeconds(901_000, 899_500)).toBe(2);
    expect(retryAfterSeconds(901_000, 901_000)).toBe(1);
  });
});
