import { call } from "../api/call.ts";
import { useGrowingList } from "../api/queries.ts";
import { useMerchant } from "../shell/merchants.ts";

const AT_ONCE = 100;

/** The members of the open merchant's team, newest first; further pages load on request. */
export function useMembers() {
  const { id: merchantId } = useMerchant();
  return useGrowingList(["listMembers", { merchantId }], (cursor, signal) =>
    call("listMembers", { merchantId, query: { limit: AT_ONCE, cursor } }, { signal }),
  );
}
