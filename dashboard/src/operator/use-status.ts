import { useList } from "../api/queries.ts";

/** So often is the page read anew while it is open. */
export const READ_AGAIN_MS = 15_000;

/** One read for all sections that show a part of it. */
export function useStatus() {
  return useList("readDeploymentStatus", {}, () => READ_AGAIN_MS);
}
