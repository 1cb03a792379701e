// The pages that the navigation and the search list, in their order, and the permission without which a member does not see one.
import type { Merchant } from "../api/operations.ts";
import type { IconName } from "./icons.tsx";

export type Permission = Merchant["permissions"][number];

interface Page {
  readonly name: string;
  readonly icon: IconName;
  readonly about: string;
}

interface MerchantPage extends Page {
  readonly to: "/console/$merchantId/invoices";
  readonly permission: Permission;
}

interface OwnPage extends Page {
  readonly to: "/console/welcome" | "/console/account";
}

export const MERCHANT_PAGES: readonly MerchantPage[] = [
  {
    name: "Invoices",
    to: "/console/$merchantId/invoices",
    icon: "invoices",
    about: "What customers have to pay, and what they paid",
    permission: "invoice:view",
  },
];

/** Pages of the user, whatever the merchant. Welcome is where a merchant begins, so it is shown until there is one. */
export const WELCOME: OwnPage = {
  name: "Welcome",
  to: "/console/welcome",
  icon: "welcome",
  about: "Name your merchant, add its first wallet and product",
};
export const ACCOUNT: OwnPage = {
  name: "Account",
  to: "/console/account",
  icon: "account",
  about: "Your name, passkeys, second factors and sessions",
};

export function merchantPagesFor(merchant: Merchant): readonly MerchantPage[] {
  return MERCHANT_PAGES.filter(({ permission }) => merchant.permissions.includes(permission));
}
