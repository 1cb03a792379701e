import { useList } from "../api/queries.ts";
import { useMerchant } from "../shell/merchants.ts";
import type { ReadinessSearch } from "./search.ts";

/** A change of a source or a rate is not an event of the merchant's, so readiness is read again while it is shown. */
const READ_AGAIN_MS = 30_000;

/** In the service's own default currency, unless one is named. */
export function useReadiness(query: ReadinessSearch = {}) {
  const { id: merchantId } = useMerchant();
  return useList("getReadiness", { merchantId, query }, () => READ_AGAIN_MS);
}
