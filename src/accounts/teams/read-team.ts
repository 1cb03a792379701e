import { type ListQuery, pageToRead } from "../../lib/pagination.ts";
import type { Db } from "../../platform/db/client.ts";
import { missingFactors, type SecurityPolicy, type SignInProvider } from "../security-policies/security-policy.ts";
import type { Factors } from "../users/user.ts";
import { memberBodyOf } from "./member.ts";
import { countMembers, selectMemberPage, selectStewards, selectTeam } from "./store.ts";

/** Reads the team's requirements, the page and, if the response has page numbers, the count. */
export function memberPageReads(db: Db, merchantId: string, query: ListQuery | undefined) {
  const page = pageToRead(query);
  return [
    selectMemberPage(db, merchantId, page),
    countMembers(db, merchantId, page),
    selectTeam(db, merchantId),
  ] as const;
}

type ListedRow = Awaited<ReturnType<typeof selectMemberPage>>[number];

/** A member, and the team's requirements that their account does not meet, named as in a refusal (Interface 5.7). */
export function listedMemberOf(row: ListedRow, policy: SecurityPolicy, configured: ReadonlySet<SignInProvider>) {
  const factors: Factors = {
    isEmailVerified: row.emailVerifiedAtMs !== null,
    hasTotp: row.totpEnabledAtMs !== null,
    hasEmailOtp: row.emailOtpEnabledAtMs !== null,
    hasPasskey: row.passkey,
    hasGoogle: row.google,
    hasGithub: row.github,
  };
  return { ...memberBodyOf(row), missing: missingFactors(policy, factors, configured) };
}

/** The users who are emailed if the policy is weakened. */
export function stewardReads(db: Db, merchantId: string) {
  return [selectStewards(db, merchantId)] as const;
}

export function policyReads(db: Db, merchantId: string) {
  return [selectTeam(db, merchantId)] as const;
}
