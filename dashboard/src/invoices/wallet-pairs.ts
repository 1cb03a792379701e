import { useQuery } from "@tanstack/react-query";
import { reading } from "../api/queries.ts";
import { useMay, useMerchant } from "../shell/merchants.ts";

/**
 * The pairs that the merchant's enabled wallets accept, such as `USDT on ETH`. If the wallets cannot be read, for example because the user may not
 * see them, at least one pair is assumed.
 */
export function useWalletPairs(): { readonly isRead: boolean; readonly pairs: readonly string[] } {
  const maySee = useMay("wallet:view");
  const { id: merchantId } = useMerchant();
  const { data, error, isFetching } = useQuery({ ...reading("listWallets", { merchantId }), enabled: maySee });
  if (!maySee || (data === undefined && error !== null)) return { isRead: true, pairs: ["any"] };
  const inUse = (data ?? []).filter(({ isEnabled }) => isEnabled);
  return {
    // An empty result counts only once loaded: a wallet may have been added since the cached one.
    isRead: data !== undefined && (inUse.length > 0 || !isFetching),
    pairs: inUse.map(({ cryptocurrency, network }) => `${cryptocurrency} on ${network}`),
  };
}
