// The signed-in user, their merchants, and the open merchant.
import { useSuspenseQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import type { Merchant } from "../api/operations.ts";
import { reading } from "../api/queries.ts";
import type { Permission } from "./pages.ts";

const LAST_MERCHANT = "edgetill-merchant";

export const ME = reading("getMe", {});
export const MERCHANTS = reading("listMerchants", { query: { limit: 100 } });

export function useMe() {
  return useSuspenseQuery(ME).data;
}

export function useMerchants(): readonly Merchant[] {
  return useSuspenseQuery(MERCHANTS).data.data;
}

/** The merchant that the address names; undefined on the user's own pages, and for a merchant the user does not belong to. */
export function useOpenMerchant(): Merchant | undefined {
  const { merchantId } = useParams({ strict: false });
  return useMerchants().find(({ id }) => id === merchantId);
}

/** The merchant whose pages the navigation lists: the open one, otherwise the one from the last visit. */
export function useNavigationMerchant(): Merchant | undefined {
  const open = useOpenMerchant();
  const merchants = useMerchants();
  return open ?? firstMerchant(merchants);
}

/** The open merchant, for pages that are only shown if there is one. */
export function useMerchant(): Merchant {
  const merchant = useOpenMerchant();
  if (merchant === undefined) throw new Error("no merchant is open");
  return merchant;
}

/** Whether the user may do this for the open merchant. Forbidden actions are not shown. */
export function useMay(permission: Permission): boolean {
  return useMerchant().permissions.includes(permission);
}

/** The merchant to open first: the one from the last visit, otherwise the newest. */
export function firstMerchant(merchants: readonly Merchant[]): Merchant | undefined {
  const last = localStorage.getItem(LAST_MERCHANT);
  return merchants.find(({ id }) => id === last) ?? merchants[0];
}

export function rememberMerchant({ id }: Merchant): void {
  localStorage.setItem(LAST_MERCHANT, id);
}
