// The usual purposes of keys, so that a user does not have to understand thirty permissions to create a key.
import { PUBLIC_KEY_PERMISSIONS, SECRET_KEY_PERMISSIONS } from "../../../src/accounts/roles/permissions.ts";
import type { CreateApiKeyBody } from "../api/operations.ts";
import type { Permission } from "../shell/pages.ts";

export type Kind = CreateApiKeyBody["kind"];

export const HOLDABLE: Readonly<Record<Kind, readonly Permission[]>> = {
  SECRET: SECRET_KEY_PERMISSIONS,
  PUBLIC: PUBLIC_KEY_PERMISSIONS,
};

export const KEY_PRESETS = ["SHOP", "READ", "ALL"] as const;
type KeyPreset = (typeof KEY_PRESETS)[number];

export const KEY_PRESET_NAMES: Readonly<Record<KeyPreset, string>> = {
  SHOP: "Shop: create and read invoices",
  READ: "Read only",
  ALL: "All of my permissions",
};

const SHOP: readonly Permission[] = ["invoice:view", "invoice:create", "invoice:update", "invoice:cancel"];

/** The permissions of a preset that this kind of key may hold and its creator may grant. */
export function presetPermissions(preset: KeyPreset, kind: Kind, held: readonly Permission[]): readonly Permission[] {
  return HOLDABLE[kind].filter((each) => held.includes(each) && isOf(preset, kind, each));
}

function isOf(preset: KeyPreset, kind: Kind, permission: Permission): boolean {
  if (preset === "ALL") return true;
  if (preset === "READ") return permission.endsWith(":view");
  // For a public key this is every permission that it can hold, because there are few of them.
  return kind === "PUBLIC" || SHOP.includes(permission);
}

/** The preset with exactly these permissions; undefined for a custom selection. */
export function presetOfPermissions(
  permissions: readonly Permission[],
  kind: Kind,
  held: readonly Permission[],
): KeyPreset | undefined {
  return KEY_PRESETS.find((preset) => {
    const wanted = presetPermissions(preset, kind, held);
    return wanted.length === permissions.length && wanted.every((each) => permissions.includes(each));
  });
}
