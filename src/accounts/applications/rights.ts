// Rights of a key as shop plugins of BTCPay Server name them (its API "Greenfield"), and what each is here. There, too, a right includes others:
// who may change invoices may make and see them, and who may see a store's settings may see its invoices.
import { keyPermissionName, type Permission } from "../roles/permissions.ts";

const SEEN = ["invoice:view", "payment:view"] as const;
const SETTINGS_SEEN = [...SEEN, "merchant:view", "wallet:view"] as const;
const CHANGED = [...SEEN, "invoice:create", "invoice:update", "invoice:cancel", "payment:resolve"] as const;
const ENDPOINTS = ["webhook:view", "webhook:create", "webhook:update", "webhook:delete"] as const;

const RIGHTS = {
  "btcpay.store.canviewinvoices": { permissions: SEEN, words: "See invoices and payments" },
  "btcpay.store.cancreateinvoice": { permissions: ["invoice:create"], words: "Create invoices" },
  "btcpay.store.canmodifyinvoices": {
    permissions: CHANGED,
    words: "Create, change and cancel invoices, and decide about payments",
  },
  "btcpay.store.canmanageinvoicestatus": {
    permissions: [...SEEN, "invoice:cancel", "payment:resolve"],
    words: "Cancel invoices, and decide about payments",
  },
  "btcpay.store.canviewstoresettings": {
    permissions: SETTINGS_SEEN,
    words: "See invoices, payments, your wallets' public addresses and settings",
  },
  "btcpay.store.webhooks.canmodifywebhooks": {
    permissions: ENDPOINTS,
    words: "Create, change and delete webhook endpoints",
  },
} as const satisfies Readonly<Record<string, { readonly permissions: readonly Permission[]; readonly words: string }>>;

export type Right = keyof typeof RIGHTS;

export const RIGHT_NAMES = Object.keys(RIGHTS).filter(isRight);

export function isRight(name: string): name is Right {
  return Object.hasOwn(RIGHTS, name);
}

/** What a person reads before they give it. */
export function rightWords(right: Right): string {
  return RIGHTS[right].words;
}

/** All that these rights need, each once. */
export function permissionsOfRights(rights: readonly Right[]): readonly Permission[] {
  return [...new Set(rights.flatMap((right): readonly Permission[] => RIGHTS[right].permissions))];
}

/** The same, as keys name them. */
export function keyPermissionsOfRights(rights: readonly Right[]): readonly string[] {
  return permissionsOfRights(rights).map(keyPermissionName);
}
