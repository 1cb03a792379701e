import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  changedPolicy,
  missingFactors,
  policyRefusal,
  type SecurityPolicy,
  type SignInProvider,
} from "../../../../src/accounts/security-policies/security-policy.ts";
import type { User } from "../../../../src/accounts/users/user.ts";
import { RUNS } from "../../../support/property-runs.ts";

const NONE: SecurityPolicy = {
  enforceTfa: false,
  enforcePasskey: false,
  enforceGoogleLogin: false,
  enforceGithubLogin: false,
  enforceEmailVerified: false,
};
const ALL = changedPolicy(NONE, {
  enforceTfa: true,
  enforcePasskey: true,
  enforceGoogleLogin: true,
  enforceGithubLogin: true,
  enforceEmailVerified: true,
});
const BARE: User = {
  id: "usr_00000000000000000000000000",
  email: "a@example.com",
  emailKey: "a@example.com",
  name: null,
  isEmailVerified: false,
  isOperator: false,
  hasTotp: false,
  hasEmailOtp: false,
  hasPasskey: false,
  hasGoogle: false,
  hasGithub: false,
};
const BOTH = new Set<SignInProvider>(["google", "github"]);

describe("the factors that a member lacks", () => {
  it("are listed in a fixed order; none are listed if none are required", () => {
    expect(missingFactors(ALL, BARE, BOTH)).toEqual([
      "tfa",
      "passkey",
      "google_login",
      "github_login",
      "email_verified",
    ]);
    expect(missingFactors(NONE, BARE, BOTH)).toEqual([]);
  });

  it.each([
    ["enforceTfa", "hasTotp", "tfa"],
    ["enforceTfa", "hasEmailOtp", "tfa"],
    ["enforcePasskey", "hasPasskey", "passkey"],
    ["enforceGoogleLogin", "hasGoogle", "google_login"],
    ["enforceGithubLogin", "hasGithub", "github_login"],
    ["enforceEmailVerified", "isEmailVerified", "email_verified"],
  ] as const)("include the factor that %s requires until %s is true (Interface 5.6)", (field, factor, missing) => {
    const policy = { ...NONE, [field]: true };
    expect(missingFactors(policy, BARE, BOTH)).toEqual([missing]);
    expect(missingFactors(policy, { ...BARE, [factor]: true }, BOTH)).toEqual([]);
  });

  it("never include a provider that is no longer configured", () => {
    expect(missingFactors(ALL, BARE, new Set())).toEqual(["tfa", "passkey", "email_verified"]);
  });
});

describe("an owner", () => {
  it("cannot newly require a provider that is not configured, but may keep requiring it", () => {
    const wanted = { ...NONE, enforceGithubLogin: true };
    const refusal = { code: "PROVIDER_NOT_CONFIGURED", provider: "github" };
    const owner = { ...BARE, hasGithub: true };
    expect(policyRefusal({ present: NONE, wanted }, owner, new Set(["google"]))).toEqual(refusal);
    expect(policyRefusal({ present: wanted, wanted }, owner, new Set(["google"]))).toBeUndefined();
    expect(policyRefusal({ present: NONE, wanted }, owner, BOTH)).toBeUndefined();
  });

  it("is never locked out by a policy that they switch on", () => {
    const flags = () => fc.record(Object.fromEntries(Object.keys(NONE).map((name) => [name, fc.boolean()])));
    const user = fc.record({
      isEmailVerified: fc.boolean(),
      hasTotp: fc.boolean(),
      hasEmailOtp: fc.boolean(),
      hasPasskey: fc.boolean(),
      hasGoogle: fc.boolean(),
      hasGithub: fc.boolean(),
    });
    const providers = fc.subarray<SignInProvider>(["google", "github"]);
    fc.assert(
      fc.property(flags(), flags(), user, providers, (before, after, factors, names) => {
        const configured = new Set(names);
        const owner = { ...BARE, ...factors };
        const [present, wanted] = [changedPolicy(NONE, before), changedPolicy(NONE, after)];
        const refusal = policyRefusal({ present, wanted }, owner, configured);
        const lacks = missingFactors(wanted, owner, configured);
        if (refusal === undefined) expect(lacks).toEqual([]);
        if (refusal?.code === "OWNER_LACKS_FACTOR") expect(refusal.missing).toEqual(lacks);
      }),
      { numRuns: RUNS },
    );
  });
});

describe("a changed policy", () => {
  it("keeps the settings that the change does not contain", () => {
    expect(changedPolicy(ALL, { enforceTfa: false, enforcePasskey: undefined })).toEqual({ ...ALL, enforceTfa: false });
  });
});
