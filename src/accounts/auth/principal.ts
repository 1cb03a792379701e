// The authenticated caller. Most functions that access a merchant's rows take the `MerchantId` of a principal. A plain string is not assignable to
// it, so a query with an unchecked id from a request does not compile.

import type { ApiKeyId, MemberId, MerchantId } from "../../lib/ids.ts";
import type { Actor } from "../../platform/audit/entry.ts";
import type { Failure } from "../../platform/failures.ts";
import type { Permission } from "../roles/permissions.ts";
import type { Role } from "../roles/roles.ts";
import { isSteppedUp, type ProvedSession, stepUpFactorsOf } from "../sessions/session.ts";
import type { User } from "../users/user.ts";
import type { KeyKind } from "./api-key.ts";

export interface ApiKeyPrincipal {
  readonly kind: "API_KEY";
  readonly keyKind: KeyKind;
  readonly keyId: ApiKeyId;
  readonly merchantId: MerchantId;
  readonly permissions: ReadonlySet<Permission>;
  /** The rights given to an application, by its own names (accounts/applications/); null for any other key. */
  readonly rights: readonly string[] | null;
}

/** A user with a live session. On a route with `mayOweFactor`, the session may still need its second factor. */
export interface UserPrincipal {
  readonly kind: "USER";
  readonly user: User;
  readonly session: ProvedSession;
}

/** A user who acts for a merchant as a member of its team. */
export interface MemberPrincipal extends UserPrincipal {
  readonly merchantId: MerchantId;
  readonly memberId: MemberId;
  readonly role: Role;
  readonly permissions: ReadonlySet<Permission>;
}

/** A caller who may act on a merchant. */
export type MerchantPrincipal = ApiKeyPrincipal | MemberPrincipal;

export function isPublicKey(principal: MerchantPrincipal): boolean {
  return principal.kind === "API_KEY" && principal.keyKind === "PUBLIC";
}

export function actorOf(principal: ApiKeyPrincipal | UserPrincipal): Actor {
  return principal.kind === "API_KEY"
    ? { kind: "API_KEY", id: principal.keyId }
    : { kind: "USER", id: principal.user.id };
}

/** Returns STEP_UP_REQUIRED for a user who has not given a factor that counts for step-up in the last 5 minutes; never for an API key. */
export function stepUpRefusal(principal: ApiKeyPrincipal | UserPrincipal, nowMs: number): Failure | undefined {
  if (principal.kind === "API_KEY") return undefined;
  const { user, session } = principal;
  if (isSteppedUp(session, user, nowMs)) return undefined;
  return { code: "STEP_UP_REQUIRED", factors: stepUpFactorsOf(user) };
}
