import { useList } from "../api/queries.ts";

/** The page's refetch interval while it is open. */
export const READ_AGAIN_MS = 15_000;

/** One read of the status, shared by all sections that show a part of it. */
export function useStatus() {
  return useList("readDeploymentStatus", {}, () => READ_AGAIN_MS);
}
