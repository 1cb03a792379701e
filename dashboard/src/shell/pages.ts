// The pages in the navigation and the search, in order, each with the permission that it needs.
import type { Merchant } from "../api/operations.ts";
import type { IconName } from "./icons.tsx";

export type Permission = Merchant["permissions"][number];

interface Page {
  readonly name: string;
  readonly icon: IconName;
  readonly about: string;
  /** Other words with which Ctrl-K finds the page. */
  readonly words?: readonly string[];
}

interface MerchantPage extends Page {
  readonly to:
    | "/console/$merchantId"
    | "/console/$merchantId/invoices"
    | "/console/$merchantId/payments"
    | "/console/$merchantId/reports"
    | "/console/$merchantId/wallets"
    | "/console/$merchantId/products"
    | "/console/$merchantId/customers"
    | "/console/$merchantId/developers"
    | "/console/$merchantId/team"
    | "/console/$merchantId/settings"
    | "/console/$merchantId/audit";
  readonly permission: Permission;
}

interface OwnPage extends Page {
  readonly to: "/console/welcome" | "/console/account" | "/operator";
}

const MERCHANT_PAGES: readonly MerchantPage[] = [
  {
    name: "Home",
    to: "/console/$merchantId",
    icon: "home",
    about: "What you received, and what needs attention",
    permission: "merchant:view",
  },
  {
    name: "Invoices",
    to: "/console/$merchantId/invoices",
    icon: "invoices",
    about: "What customers owe, and what they have paid",
    permission: "invoice:view",
  },
  {
    name: "Payments to review",
    to: "/console/$merchantId/payments",
    icon: "review",
    about: "Payments that could not be credited automatically, and invoices that need a decision",
    permission: "payment:view",
  },
  {
    name: "Wallets",
    to: "/console/$merchantId/wallets",
    icon: "wallet",
    about: "The addresses and keys that customers pay to",
    permission: "wallet:view",
  },
  {
    name: "Products",
    to: "/console/$merchantId/products",
    icon: "product",
    about: "What you sell, each with a page to share",
    permission: "product:view",
  },
  {
    name: "Customers",
    to: "/console/$merchantId/customers",
    icon: "customers",
    about: "Who bought from you, and what they paid",
    words: ["buyers", "erase", "GDPR"],
    permission: "customer:view",
  },
  {
    name: "Reports",
    to: "/console/$merchantId/reports",
    icon: "reports",
    about: "Totals by day, week, month and coin, and files for your books",
    words: ["export", "statement", "CSV", "accountant", "bookkeeping", "tax"],
    permission: "invoice:view",
  },
  {
    name: "Developers",
    to: "/console/$merchantId/developers",
    icon: "developers",
    about: "API keys, webhook endpoints and events",
    words: ["webhooks", "secret", "deliveries"],
    permission: "api_key:view",
  },
  {
    name: "Team",
    to: "/console/$merchantId/team",
    icon: "team",
    about: "Members, roles, invitations and required sign-in methods",
    words: ["users", "permissions", "invite"],
    permission: "team:view",
  },
  {
    name: "Settings",
    to: "/console/$merchantId/settings",
    icon: "settings",
    about: "Brand, tolerances, time limits, email and the wallet change delay",
    permission: "merchant:view",
  },
  {
    name: "Audit",
    to: "/console/$merchantId/audit",
    icon: "audit",
    about: "Who changed what, and when",
    permission: "audit:view",
  },
];

/** The user's own pages, which belong to no merchant. A merchant is created on Welcome, so that page is shown until there is a merchant. */
export const WELCOME: OwnPage = {
  name: "Welcome",
  to: "/console/welcome",
  icon: "welcome",
  about: "Name your shop, add its first wallet and product",
};
export const ACCOUNT: OwnPage = {
  name: "Account",
  to: "/console/account",
  icon: "account",
  about: "Your name, passkeys, second factors and sessions",
  words: ["profile", "security", "2FA", "password"],
};

/** Only for operators. */
export const OPERATOR: OwnPage = {
  name: "Operator",
  to: "/operator",
  icon: "operator",
  about: "Status, networks, merchants and operators of this deployment",
  words: ["deployment", "suspend", "pause", "health", "status"],
};

export function merchantPagesFor(merchant: Merchant): readonly MerchantPage[] {
  return MERCHANT_PAGES.filter(({ permission }) => merchant.permissions.includes(permission));
}
