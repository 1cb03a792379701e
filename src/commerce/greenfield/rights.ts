// A key's permissions as Greenfield rights. Plugins compare the list with exactly what they asked for, so a key that an application asked for has
// exactly the rights that it was given. For any other key a right is listed if it stands for at least one of our permissions and the key holds all of
// them.
import { isRight, ownPermissions, RIGHT_NAMES, type Right } from "../../accounts/applications/rights.ts";
import type { ApiKeyPrincipal } from "../../accounts/auth/principal.ts";
import { keyPermissionName } from "../../accounts/roles/permissions.ts";

/** The key's rights, each followed by the store's id. */
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

/**
 * The right that includes a permission such as `INVOICE_CREATE`, or the first right that includes one of several joined by ` or `; `permission`
 * itself if there is none.
 */
export function rightFor(permission: string): string {
  const names = permission.split(" or ");
  const right = RIGHT_NAMES.find((each) => ownPermissions(each).some((own) => names.includes(keyPermissionName(own))));
  return right ?? permission;
}
