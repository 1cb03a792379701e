// What a key may do, as Greenfield names rights. Plugins compare the list with exactly what they asked for. So a key that an application asked for has
// those that it was given, and for any other a right is named where the key holds all that it adds.
import { isRight, ownPermissions, RIGHT_NAMES } from "../../accounts/applications/rights.ts";
import type { ApiKeyPrincipal } from "../../accounts/auth/principal.ts";
import { keyPermissionName } from "../../accounts/roles/permissions.ts";

/** Each right with the store that it is for. */
export function rightsOf(
  { permissions, rights }: Pick<ApiKeyPrincipal, "permissions" | "rights">,
  storeId: string,
): readonly string[] {
  const named =
    rights?.filter(isRight) ??
    RIGHT_NAMES.filter((right) => ownPermissions(right).every((each) => permissions.has(each)));
  return named.map((right) => `${right}:${storeId}`);
}

/** The right that has the permission of a key, `INVOICE_CREATE`, or one of several; the name itself where none has. */
export function rightFor(permission: string): string {
  const names = permission.split(" or ");
  const right = RIGHT_NAMES.find((each) => ownPermissions(each).some((own) => names.includes(keyPermissionName(own))));
  return right ?? permission;
}
