// The permissions of each role, as a table: OWNER > ADMIN > MEMBER > VIEWER, each including the next (Interface 2.3, decisions 7).
import { PERMISSIONS, type Permission } from "./permissions.ts";

export const ROLES = ["OWNER", "ADMIN", "MEMBER", "VIEWER"] as const;
export type Role = (typeof ROLES)[number];

const OWNER_ONLY: readonly Permission[] = ["merchant:delete", "merchant:billing"];

/** The *:view permission of each domain. */
const VIEWER: readonly Permission[] = PERMISSIONS.filter((each) => each.endsWith(":view"));

const MEMBER: readonly Permission[] = [
  ...VIEWER,
  "invoice:create",
  "invoice:update",
  "product:create",
  "product:update",
  "customer:update",
];

export const ROLE_PERMISSIONS: Readonly<Record<Role, ReadonlySet<Permission>>> = {
  OWNER: new Set(PERMISSIONS),
  ADMIN: new Set(PERMISSIONS.filter((each) => !OWNER_ONLY.includes(each))),
  MEMBER: new Set(MEMBER),
  VIEWER: new Set(VIEWER),
};

/** Whether `actor` is strictly above `target`, which acting on a member requires (Interface 4.4a). */
export function outranks(actor: Role, target: Role): boolean {
  return ROLES.indexOf(actor) < ROLES.indexOf(target);
}
