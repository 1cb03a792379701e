import { useInfiniteQuery } from "@tanstack/react-query";
import { call } from "../api/call.ts";
import { useMerchant } from "../shell/merchants.ts";

const AT_ONCE = 100;

/** The members of the open merchant's team, the newest first, page after page. */
export function useMembers() {
  const { id: merchantId } = useMerchant();
  return useInfiniteQuery({
    queryKey: ["listMembers", { merchantId }, "all"],
    queryFn: ({ pageParam, signal }) =>
      call("listMembers", { merchantId, query: { limit: AT_ONCE, cursor: pageParam } }, { signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  });
}
