// What a key of ours may do, as Greenfield names rights. Plugins compare the list with exactly what they asked for, so a right is named only where
// the key holds all that it stands for.
import { keyPermissionName, type Permission } from "../accounts/roles/permissions.ts";

const RIGHTS = {
  "btcpay.store.canviewstoresettings": ["merchant:view", "wallet:view"],
  "btcpay.store.canviewinvoices": ["invoice:view"],
  "btcpay.store.cancreateinvoice": ["invoice:create"],
  "btcpay.store.canmodifyinvoices": ["invoice:update", "invoice:cancel"],
  "btcpay.store.canmanageinvoicestatus": ["payment:resolve"],
  "btcpay.store.webhooks.canmodifywebhooks": ["webhook:view", "webhook:create", "webhook:update", "webhook:delete"],
} as const satisfies Readonly<Record<string, readonly Permission[]>>;

/** Each right with the store that it is for. */
export function rightsOf(held: ReadonlySet<Permission>, storeId: string): readonly string[] {
  return Object.entries(RIGHTS).flatMap(([right, permissions]) =>
    permissions.every((each) => held.has(each)) ? [`${right}:${storeId}`] : [],
  );
}

/** The right that has the permission of a key, `INVOICE_CREATE`, or one of several; the name itself where none has. */
export function rightFor(permission: string): string {
  const names = permission.split(" or ");
  const right = Object.entries(RIGHTS).find(([, permissions]) =>
    permissions.some((each) => names.includes(keyPermissionName(each))),
  );
  return right?.[0] ?? permission;
}
