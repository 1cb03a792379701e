// Names and descriptions of the roles.
import { outranks, ROLES, type Role } from "../../../src/accounts/roles/roles.ts";

export const ROLE_WORDS: Readonly<
  Record<Role, { readonly name: string; readonly about: string; readonly color: string }>
> = {
  OWNER: { name: "Owner", about: "Can do everything. Only the owner can transfer ownership.", color: "indigo" },
  ADMIN: { name: "Admin", about: "Can do everything except delete the merchant.", color: "blue" },
  MEMBER: { name: "Member", about: "Can create and edit invoices, products and customers.", color: "teal" },
  VIEWER: { name: "Viewer", about: "Can view everything, but change nothing.", color: "gray" },
};

/** The roles that a user with this role may grant, and remove from others. */
function rolesBelow(role: Role | null): readonly Role[] {
  return role === null ? [] : ROLES.filter((each) => outranks(role, each));
}

export function roleOptions(role: Role | null) {
  return rolesBelow(role).map((each) => ({ value: each, label: ROLE_WORDS[each].name }));
}
