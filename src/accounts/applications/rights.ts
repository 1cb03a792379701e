// Rights of a key as shop plugins of BTCPay Server name them (its API "Greenfield"), and what each means here.
import { keyPermissionName, type Permission } from "../roles/permissions.ts";

interface Meaning {
  /** What it adds to the rights it includes. */
  readonly own: readonly Permission[];
  readonly includes?: readonly string[];
  /** What the user reads before granting it. */
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
  // PrestaShop's plugin refuses a key without it, but changes nothing with it: there is no such call here.
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

/** What a right adds to the rights it includes. No permission is in two of them. */
export function ownPermissions(right: Right): readonly Permission[] {
  return RIGHTS[right].own;
}

/** All permissions that these rights need, included rights counted, each once. */
export function permissionsOfRights(rights: readonly Right[]): readonly Permission[] {
  const all = rights.flatMap((right) => [right, ...includedIn(right)]);
  return [...new Set(all.flatMap(ownPermissions))];
}

/** The same, as keys name them. */
export function keyPermissionsOfRights(rights: readonly Right[]): readonly string[] {
  return permissionsOfRights(rights).map(keyPermissionName);
}

/** With the rights that these include, recursively. */
function includedIn(right: Right): readonly Right[] {
  const meaning: Meaning = RIGHTS[right];
  return (meaning.includes ?? []).filter(isRight).flatMap((each) => [each, ...includedIn(each)]);
}
