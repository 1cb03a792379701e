// The permissions that a user may grant to a key (decisions 7): those that the kind of key may hold and the user's role has.
import type { KeyKind } from "../auth/api-key.ts";
import {
  keyPermissionName,
  PERMISSIONS,
  type Permission,
  PUBLIC_KEY_PERMISSIONS,
  SECRET_KEY_PERMISSIONS,
  WEAKEN,
} from "../roles/permissions.ts";
import { ROLE_PERMISSIONS, type Role } from "../roles/roles.ts";

/**
 * The names that API keys use for all 34 permissions, and for the one that only keys can hold. Any other name is invalid. Not every user can grant
 * all of these.
 */
export const KEY_PERMISSION_NAMES: readonly string[] = [
  ...PERMISSIONS.map(keyPermissionName),
  keyPermissionName(WEAKEN),
];

const HELD_BY: Readonly<Record<KeyKind, readonly Permission[]>> = {
  SECRET: SECRET_KEY_PERMISSIONS,
  PUBLIC: PUBLIC_KEY_PERMISSIONS,
};

/**
 * The `names` that a user with `role` cannot grant to a key of `kind`, in the given order. Includes unknown names. PROTECTION_WEAKEN, which no role
 * has, can be granted by every role that may create keys.
 */
export function ungrantable(of: {
  readonly kind: KeyKind;
  readonly names: readonly string[];
  readonly role: Role;
}): readonly string[] {
  const grantable = HELD_BY[of.kind]
    .filter((each) => ROLE_PERMISSIONS[of.role].has(each === WEAKEN ? "api_key:create" : each))
    .map(keyPermissionName);
  return of.names.filter((name) => !grantable.includes(name));
}
