// The rights of a key, named as in shop plugins of BTCPay Server (its API "Greenfield"), and what each means here.
import { keyPermissionName, type Permission } from "../roles/permissions.ts";

interface Meaning {
  /** The permissions that this right adds to those of the rights it includes. */
  readonly own: readonly Permission[];
  readonly includes?: readonly string[];
  /** The text that the user reads before granting the right. */
  readonly words: string;
}

const RIGHTS = {
  "btcpay.store.canviewstoresettings": {
    own: ["merchant:view", "wallet:view"],
    includes: ["btcpay.store.canviewinvoices"],
    words: "See your shop's name, its payment methods and rates, and invoices",
  },
  "btcpay.store.canviewinvoices": { own: ["invoice:view"], words: "See invoices and what was paid" },
  "btcpay.store.cancreateinvoice": { own: ["invoice:create"], words: "Create invoices" },
  "btcpay.store.canmodifyinvoices": {
    own: ["invoice:update", "invoice:cancel"],
    includes: ["btcpay.store.cancreateinvoice", "btcpay.store.canmanageinvoicestatus"],
    words: "See, create, change and cancel invoices, and mark them as settled by hand",
  },
  "btcpay.store.canmanageinvoicestatus": {
    own: ["payment:resolve"],
    includes: ["btcpay.store.canviewinvoices"],
    words: "See invoices, and mark them as settled by hand",
  },
  // PrestaShop's plugin refuses a key without this right but never changes settings with it, so no permission to change settings is granted.
  "btcpay.store.canmodifystoresettings": {
    own: [],
    includes: [
      "btcpay.store.canviewstoresettings",
      "btcpay.store.canmodifyinvoices",
      "btcpay.store.webhooks.canmodifywebhooks",
    ],
    words:
      "See your shop, its wallets and rates; see, create, change and cancel invoices, and mark them as settled by hand; create, change and delete webhook endpoints. It cannot change your shop's settings, whatever this right is called",
  },
  "btcpay.store.webhooks.canmodifywebhooks": {
    own: ["webhook:view", "webhook:create", "webhook:update", "webhook:delete"],
    words: "Create, change and delete webhook endpoints",
  },
} as const satisfies Readonly<Record<string, Meaning>>;

export type Right = keyof typeof RIGHTS;

export const RIGHT_NAMES = Object.keys(RIGHTS).filter(isRight);

export function isRight(name: string): name is Right {
  return Object.hasOwn(RIGHTS, name);
}

export function rightWords(right: Right): string {
  return RIGHTS[right].words;
}

/** The permissions that a right adds to those of the rights it includes. No two rights add the same permission. */
export function ownPermissions(right: Right): readonly Permission[] {
  return RIGHTS[right].own;
}

/** All permissions that these rights give, including those of included rights, without duplicates. */
export function permissionsOfRights(rights: readonly Right[]): readonly Permission[] {
  const all = rights.flatMap((right) => [right, ...includedIn(right)]);
  return [...new Set(all.flatMap(ownPermissions))];
}

/** Like `permissionsOfRights`, as names of permissions in API keys. */
export function keyPermissionsOfRights(rights: readonly Right[]): readonly string[] {
  return permissionsOfRights(rights).map(keyPermissionName);
}

/** The rights that this right includes, recursively. */
function includedIn(right: Right): readonly Right[] {
  const meaning: Meaning = RIGHTS[right];
  return (meaning.includes ?? []).filter(isRight).flatMap((each) => [each, ...includedIn(each)]);
}
