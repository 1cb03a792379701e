import { useList } from "../api/queries.ts";
import { useMerchant } from "../shell/merchants.ts";
import type { ReadinessSearch } from "./search.ts";

/** Live updates do not cover sources and rates, so readiness is polled while it is shown. */
const READ_AGAIN_MS = 30_000;

/** The readiness for prices in the given currency, or else in the service's default currency. */
export function useReadiness(query: ReadinessSearch = {}) {
  const { id: merchantId } = useMerchant();
  return useList("getReadiness", { merchantId, query }, () => READ_AGAIN_MS);
}
