// The rank rule (Interface 4.4a "Rank rule"): a user may only act on members strictly below them. No user outranks an OWNER or themselves, so these
// rules never create or remove an OWNER, and never change one's own role.
import { outranks, ROLE_PERMISSIONS, type Role } from "../roles/roles.ts";

/** `actor` must be above both the current and the new role of the other user. */
export function mayChangeRole(actor: Role, target: Role, role: Role): boolean {
  return outranks(actor, target) && outranks(actor, role);
}

export function mayRemove(actor: Role, target: Role): boolean {
  return outranks(actor, target);
}

/**
 * Whether this role may make protected changes. Assigning it needs a step-up too; otherwise someone with a stolen session could give the role to an
 * account of their own.
 */
export function isProtectedRole(role: Role): boolean {
  return ROLE_PERMISSIONS[role].has("wallet:update") || ROLE_PERMISSIONS[role].has("api_key:create");
}

/** Also checked when an invitation is resent, and for its inviter when it is accepted. */
export function mayInvite(actor: Role, role: Role): boolean {
  return outranks(actor, role);
}
