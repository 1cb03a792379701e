import { focusManager, onlineManager, type Query, type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { followMerchant, type Key, type Reads } from "../api/live.ts";
import { useOpenMerchant } from "./merchants.ts";

/** Subscribes to the open merchant's updates if the user may view its invoices and has every factor that its team requires. */
export function useLiveUpdates(): void {
  const queries = useQueryClient();
  const open = useOpenMerchant();
  const maySee = open?.missing.length === 0 && open.permissions.includes("invoice:view");
  const merchantId = maySee ? open.id : undefined;
  useEffect(() => (merchantId === undefined ? undefined : follow(merchantId, queries)), [merchantId, queries]);
}

function follow(merchantId: string, queries: QueryClient): () => void {
  const following = followMerchant({
    merchantId,
    reads: readsOf(queries),
    connect: (path) => new WebSocket(`${location.origin.replace(/^http/, "ws")}${path}`),
    isSeen: () => focusManager.isFocused(),
    // A monotonic clock may stand still while the computer sleeps.
    pageAgeMs: () => Math.max(performance.now(), Date.now() - performance.timeOrigin),
  });
  const endings = [
    focusManager.subscribe((isSeen) => {
      if (isSeen) following.seen();
    }),
    onlineManager.subscribe((isOnline) => {
      if (isOnline) following.online();
    }),
    following.end,
  ];
  return () => {
    for (const end of endings) end();
  };
}

/** The cached queries, whose keys were created by `reading` (api/queries.ts). */
function readsOf(queries: QueryClient): Reads {
  const of =
    (isTouched: (key: Key) => boolean) =>
    ({ queryKey }: Query) =>
      isTouched(queryKey);
  return {
    invalidate: (isTouched) => void queries.invalidateQueries({ predicate: of(isTouched) }),
    isReadingFirst: (isTouched) =>
      queries
        .getQueryCache()
        .findAll({ predicate: of(isTouched), fetchStatus: "fetching" })
        .some(({ state }) => state.data === undefined),
  };
}
