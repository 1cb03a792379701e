// The 34 permissions as data (decisions 7), and those that an API key may hold. Roles are in roles.ts.

export const PERMISSIONS = [
  "merchant:view",
  "merchant:update",
  "merchant:delete",
  "merchant:billing",
  "team:view",
  "team:invite",
  "team:update",
  "team:remove",
  "invoice:view",
  "invoice:create",
  "invoice:update",
  "invoice:cancel",
  "invoice:delete",
  "product:view",
  "product:create",
  "product:update",
  "product:delete",
  "customer:view",
  "customer:update",
  "customer:delete",
  "wallet:view",
  "wallet:create",
  "wallet:update",
  "wallet:delete",
  "payment:view",
  "payment:resolve",
  "webhook:view",
  "webhook:create",
  "webhook:update",
  "webhook:delete",
  "api_key:view",
  "api_key:create",
  "api_key:delete",
  "audit:view",
] as const;

/** Only for keys, which have no factor: permits weakening a protection (protections/weakening.ts). Anyone who may create keys may grant it. */
export const WEAKEN = "protection:weaken";

export type Permission = (typeof PERMISSIONS)[number] | typeof WEAKEN;

/** What a caller must hold: one permission, or any one of several. */
export type Needed = Permission | readonly [Permission, ...Permission[]];

/** The alternatives as a list: any one of these permissions is enough. */
export function alternativesOf(needed: Needed): readonly Permission[] {
  return typeof needed === "string" ? [needed] : needed;
}

/** The required permissions as text for documents and refusals. */
export function neededText(names: readonly string[]): string {
  return names.join(" or ");
}

/** Never granted to a key: permissions over users, keys and the merchant itself. */
const USER_ONLY: readonly Permission[] = [
  "merchant:delete",
  "merchant:billing",
  "team:invite",
  "team:update",
  "team:remove",
  "api_key:create",
  "api_key:delete",
];

/** The 28 permissions that an `sk_` key may hold. */
export const SECRET_KEY_PERMISSIONS: readonly Permission[] = [
  ...PERMISSIONS.filter((each) => !USER_ONLY.includes(each)),
  WEAKEN,
];

/** The permissions that a `pk_` key may hold. Such a key is public, because browsers use it. */
export const PUBLIC_KEY_PERMISSIONS: readonly Permission[] = ["invoice:create", "invoice:view", "product:view"];

/** The name of a permission in an API key: `invoice:create` is `INVOICE_CREATE` (Interface 5.3). */
export function keyPermissionName(permission: Permission): string {
  return permission.replace(":", "_").toUpperCase();
}

const BY_KEY_NAME: ReadonlyMap<string, Permission> = new Map(
  SECRET_KEY_PERMISSIONS.map((each) => [keyPermissionName(each), each]),
);

/** The permissions with these stored names. Ignores unknown names, and permissions that are never granted to a key. */
export function permissionsOfKey(names: readonly string[]): ReadonlySet<Permission> {
  const held = new Set<Permission>();
  for (const name of names) {
    const permission = BY_KEY_NAME.get(name);
    if (permission !== undefined) held.add(permission);
  }
  return held;
}
