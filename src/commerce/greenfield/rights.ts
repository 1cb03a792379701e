// A key's permissions as Greenfield rights. Plugins compare the list with exactly what they asked for. So a key that an application asked for has the rights it
// was given; for any other key a right is listed if it adds something and the key holds all of it.
import { isRight, ownPermissions, RIGHT_NAMES, type Right } from "../../accounts/applications/rights.ts";
import type { ApiKeyPrincipal } from "../../accounts/auth/principal.ts";
import { keyPermissionName } from "../../accounts/roles/permissions.ts";

/** Each right with the store that it is for. */
export function rightsOf(
  { permissions, rights }: Pick<ApiKeyPrincipal, "permissions" | "rights">,
  storeId: string,
): readonly string[] {
  const isHeld = (right: Right) => {
    const own = ownPermissions(right);
    return own.length > 0 && own.every((each) => permissions.has(each));
  };
  const named = rights?.filter(isRight) ?? RIGHT_NAMES.filter(isHeld);
  return named.map((right) => `${right}:${storeId}`);
}

/** The right that has the permission of a key, `INVOICE_CREATE`, or one of several; the name itself if there is none. */
export function rightFor(permission: string): string {
  const names = permission.split(" or ");
  const right = RIGHT_NAMES.find((each) => ownPermissions(each).some((own) => names.includes(keyPermissionName(own))));
  return right ?? permission;
}
