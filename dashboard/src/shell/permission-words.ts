// Texts for the 34 permissions of users, and for the permission that only keys can have, by group.
import type { Permission } from "./pages.ts";

type Domain = Permission extends `${infer D}:${string}` ? D : never;
type Action = Permission extends `${string}:${infer A}` ? A : never;

const DOMAINS: Readonly<Record<Domain, string>> = {
  invoice: "Invoices",
  payment: "Payments",
  product: "Products",
  customer: "Customers",
  wallet: "Wallets",
  webhook: "Endpoints and events",
  api_key: "API keys",
  team: "Team",
  merchant: "Merchant and settings",
  audit: "Audit log",
  protection: "Security protections",
};

const ACTIONS: Readonly<Record<Action, string>> = {
  view: "View",
  create: "Create",
  update: "Edit",
  cancel: "Cancel",
  delete: "Delete",
  resolve: "Resolve",
  invite: "Invite",
  remove: "Remove",
  billing: "Billing",
  weaken: "Reduce",
};

export interface PermissionGroup {
  readonly name: string;
  readonly members: readonly { readonly permission: Permission; readonly action: string }[];
}

/** The given permissions, by subject; empty groups are omitted. */
export function permissionGroups(permissions: readonly Permission[]): readonly PermissionGroup[] {
  const groups = Object.entries(DOMAINS).map(([domain, name]) => ({
    name,
    members: permissions
      .filter((each) => each.startsWith(`${domain}:`))
      .map((permission) => ({ permission, action: actionOf(permission) })),
  }));
  return groups.filter(({ members }) => members.length > 0);
}

/** The action in words. Customers have only two permissions, so `update` also covers creating. */
function actionOf(permission: Permission): string {
  if (permission === "customer:update") return "Create and edit";
  const action = permission.replace(/.*:/, "");
  return Object.entries(ACTIONS).find(([name]) => name === action)?.[1] ?? action;
}
