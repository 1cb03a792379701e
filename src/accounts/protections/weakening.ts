// The settings that protect a team, and what weakens each (security.md 1 "Weakening a protection"). test/support/protections.ts lists all other
// members of requests; a test fails until a new member is added to one of the two lists.
import type { AuditFacts } from "../../platform/audit/entry.ts";
import type { Failure } from "../../platform/failures.ts";
import { isRangeWithin } from "../auth/ip-allow-list.ts";
import { type MerchantPrincipal, stepUpRefusal } from "../auth/principal.ts";
import { keyPermissionName, WEAKEN } from "../roles/permissions.ts";

type Fact = AuditFacts[string] | undefined;

type IsWeaker = (after: Fact, before: Fact) => boolean;

const isHigher: IsWeaker = (after, before) => Number(after) > Number(before);
const isOff: IsWeaker = (after) => after === false;
const listed = (fact: Fact): readonly string[] => (Array.isArray(fact) ? fact : []);

/** The changes that weaken a protection, by operation and member of its body. */
export const WEAKENINGS = {
  updateSettings: {
    underpaidTolerancePercent: isHigher,
    underpaidToleranceMax: isHigher,
    overpaidTolerancePercent: isHigher,
    latePaymentPolicy: (after) => after === "ACCEPT",
    lateGraceSeconds: isHigher,
    quorumAboveAmount: (after, before) => after === null || (before !== null && isHigher(after, before)),
    mailReceiptsToMerchant: isOff,
    frameAncestors: (after, before) => listed(after).some((each) => !listed(before).includes(each)),
  },
  updateApiKey: {
    allowedIps: (after, before) =>
      before !== null &&
      (after === null || listed(after).some((range) => !listed(before).some((old) => isRangeWithin(range, old)))),
  },
  updateTeamSecurity: {
    enforceTfa: isOff,
    enforcePasskey: isOff,
    enforceGoogleLogin: isOff,
    enforceGithubLogin: isOff,
    enforceEmailVerified: isOff,
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, IsWeaker>>>>;

/** Other changes, which count as weakening in either direction. They always require a factor and send their own emails. */
export const ALWAYS_GUARDED = {
  updateSettings: ["walletChangeDelayHours"],
  updateWallet: ["isEnabled", "requiredConfirmations"],
  addOperator: ["email"],
} as const;

export type GuardedOperation = keyof typeof WEAKENINGS;

/** The protections that the changed facts weaken, one sentence each: "Underpaid tolerance percent: 1 before, 10 now". */
export function weakenedBy(
  operation: GuardedOperation,
  { before, after }: { readonly before: AuditFacts; readonly after: AuditFacts },
): readonly string[] {
  return Object.entries<IsWeaker>(WEAKENINGS[operation]).flatMap(([name, isWeaker]) => {
    if (!(name in after && isWeaker(after[name], before[name]))) return [];
    const words = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
    return [
      `${words.charAt(0).toUpperCase()}${words.slice(1)}: ${shown(before[name])} before, ${shown(after[name])} now`,
    ];
  });
}

function shown(fact: Fact): string {
  return Array.isArray(fact) ? fact.join(", ") : String(fact ?? "no limit");
}

/** Why the caller may not weaken a protection: a user without a recent factor, or a key without the permission for it. */
export function weakeningRefusal(principal: MerchantPrincipal, nowMs: number): Failure | undefined {
  if (principal.kind === "USER") return stepUpRefusal(principal, nowMs);
  return principal.permissions.has(WEAKEN)
    ? undefined
    : { code: "PERMISSION_DENIED", permission: keyPermissionName(WEAKEN) };
}
