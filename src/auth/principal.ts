// Who is calling, once proved. A merchant's stores take the `merchantId` of a principal: it can only come out of the auth layer, so a query
// without a proved merchant does not compile.
import type { Actor } from "../audit/entry.ts";
import type { Failure } from "../failures.ts";
import type { ApiKeyId, MemberId, MerchantId } from "../lib/ids.ts";
import { isSteppedUp, type ProvedSession, stepUpFactorsOf } from "../sessions/session.ts";
import type { Permission } from "../teams/permissions.ts";
import type { Role } from "../teams/roles.ts";
import type { Person } from "../users/person.ts";
import type { KeyKind } from "./api-key.ts";

export interface ApiKeyPrincipal {
  readonly kind: "API_KEY";
  readonly keyKind: KeyKind;
  readonly keyId: ApiKeyId;
  readonly merchantId: MerchantId;
  readonly permissions: ReadonlySet<Permission>;
}

/** A person in a live session, no second factor owed. */
export interface PersonPrincipal {
  readonly kind: "USER";
  readonly person: Person;
  readonly session: ProvedSession;
}

/** A person acting for a merchant whose team they belong to. */
export interface MemberPrincipal extends PersonPrincipal {
  readonly merchantId: MerchantId;
  readonly memberId: MemberId;
  readonly role: Role;
  readonly permissions: ReadonlySet<Permission>;
}

/** Whoever may act on a merchant. */
export type MerchantPrincipal = ApiKeyPrincipal | MemberPrincipal;

export function isPublicKey(principal: MerchantPrincipal): boolean {
  return principal.kind === "API_KEY" && principal.keyKind === "PUBLIC";
}

export function actorOf(principal: ApiKeyPrincipal | PersonPrincipal): Actor {
  return principal.kind === "API_KEY"
    ? { kind: "API_KEY", id: principal.keyId }
    : { kind: "USER", id: principal.person.id };
}

/** STEP_UP_REQUIRED for a person who gave no factor in the last 5 minutes; a key is never asked (security.md 1 "Step-up"). */
export function stepUpRefusal(principal: ApiKeyPrincipal | PersonPrincipal, nowMs: number): Failure | undefined {
  if (principal.kind === "API_KEY") return undefined;
  const { person, session } = principal;
  if (isSteppedUp(session, person, nowMs)) return undefined;
  return { code: "STEP_UP_REQUIRED", factors: stepUpFactorsOf(person) };
}
