// The 34 permissions, and the one for keys, in words, by group: what a key or a role may do.
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
  protection: "Protections",
};

const ACTIONS: Readonly<Record<Action, string>> = {
  view: "See",
  create: "Create",
  update: "Change",
  cancel: "Cancel",
  delete: "Delete",
  resolve: "Decide",
  invite: "Invite",
  remove: "Remove",
  billing: "Billing",
  weaken: "Weaken",
};

export interface PermissionGroup {
  readonly name: string;
  readonly members: readonly { readonly permission: Permission; readonly action: string }[];
}

/** The given ones, by subject; empty groups are omitted. */
export function permissionGroups(permissions: readonly Permission[]): readonly PermissionGroup[] {
  const groups = Object.entries(DOMAINS).map(([domain, name]) => ({
    name,
    members: permissions
      .filter((each) => each.startsWith(`${domain}:`))
      .map((permission) => ({ permission, action: actionOf(permission) })),
  }));
  return groups.filter(({ members }) => members.length > 0);
}

/** Of the customers' two, `update` also creates. */
function actionOf(permission: Permission): string {
  if (permission === "customer:update") return "Create and change";
  const action = permission.replace(/.*:/, "");
  return Object.entries(ACTIONS).find(([name]) => name === action)?.[1] ?? action;
}
