import { useQuery } from "@tanstack/react-query";
import { reading } from "../api/queries.ts";
import { useMay, useMerchant } from "../shell/merchants.ts";

/** The networks on which the merchant has a wallet, by name; empty for a member who may not see wallets. */
export function useNetworks(): readonly string[] {
  const enabled = useMay("wallet:view");
  const { id: merchantId } = useMerchant();
  const { data = [] } = useQuery({ ...reading("listWallets", { merchantId }), enabled });
  return [...new Set(data.map(({ network }) => network))].toSorted();
}
