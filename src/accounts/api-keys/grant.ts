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

/** All 34 permissions and the one for keys, as keys name them. Any other name is invalid; one of these may still not be grantable. */
export const KEY_PERMISSION_NAMES: readonly string[] = [
  ...PERMISSIONS.map(keyPermissionName),
  keyPermissionName(WEAKEN),
];

const HELD_BY: Readonly<Record<KeyKind, readonly Permission[]>> = {
  SECRET: SECRET_KEY_PERMISSIONS,
  PUBLIC: PUBLIC_KEY_PERMISSIONS,
};

/** Those of `names` that a user with `role` cannot grant to a key of `kind`, in the given order. Includes unknown names. */
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
