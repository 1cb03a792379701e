import { useQuery } from "@tanstack/react-query";
import { reading } from "../api/queries.ts";
import { useMay, useMerchant } from "../shell/merchants.ts";

/**
 * What the merchant's wallets in use take, as `USDT on ETH`. A member who may not see wallets counts as having read one, so that nothing is said
 * that they cannot know.
 */
export function useWalletPairs(): { readonly isRead: boolean; readonly pairs: readonly string[] } {
  const maySee = useMay("wallet:view");
  const { id: merchantId } = useMerchant();
  const { data, error, isFetching } = useQuery({ ...reading("listWallets", { merchantId }), enabled: maySee });
  if (!maySee || (data === undefined && error !== null)) return { isRead: true, pairs: ["any"] };
  const inUse = (data ?? []).filter(({ isEnabled }) => isEnabled);
  return {
    // None is believed only from a reading that has ended: a wallet may have been added since the last one.
    isRead: data !== undefined && (inUse.length > 0 || !isFetching),
    pairs: inUse.map(({ cryptocurrency, network }) => `${cryptocurrency} on ${network}`),
  };
}
