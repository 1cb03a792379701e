// Who may do what to whom (Interface 4.4a "Rank rule"): only to a member strictly below. Nobody outranks
// an OWNER and nobody outranks themselves, so no rule here makes or unmakes an OWNER, or changes one's own role.
import { outranks, ROLE_PERMISSIONS, type Role } from "./roles.ts";

/** `actor` must be above both what the other is and what they would become. */
export function mayChangeRole(actor: Role, target: Role, role: Role): boolean {
  return outranks(actor, target) && outranks(actor, role);
}

export function mayRemove(actor: Role, target: Role): boolean {
  return outranks(actor, target);
}

/** Whether a seat of this role changes what a step-up protects: then giving it takes one too, or a stolen session could seat its thief. */
export function isProtectedRole(role: Role): boolean {
  return ROLE_PERMISSIONS[role].has("wallet:update") || ROLE_PERMISSIONS[role].has("api_key:create");
}

/** Also asked again when an invitation is sent anew, and, of its inviter, when it is accepted. */
export function mayInvite(actor: Role, role: Role): boolean {
  return outranks(actor, role);
}
