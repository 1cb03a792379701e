import { useQuery } from "@tanstack/react-query";
import type { Wallet } from "../api/operations.ts";
import { reading } from "../api/queries.ts";

/** The address that customers pay to: a single-address wallet's own, or the last one used. Undefined before the first use, and until it is loaded. */
export function useLastAddress({ id: walletId, merchantId, address, nextIndex, warnings }: Wallet): string | undefined {
  const isIntact = !warnings.includes("INTEGRITY_CHECK_FAILED");
  const last = nextIndex === null ? -1 : nextIndex - 1;
  const { data } = useQuery({
    ...reading("previewAddresses", { merchantId, params: { walletId }, query: { from: last, count: 1 } }),
    enabled: isIntact && last >= 0,
  });
  return address ?? data?.data[0]?.address;
}
