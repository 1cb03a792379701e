import type { Sleep } from "../../lib/sleep.ts";
import type { Db } from "../../platform/db/client.ts";
import { faultKind, withinLimit } from "../../platform/db/retry.ts";
import { countNotice, isMailedNow, type Notice } from "./store.ts";

/**
 * Whether its mail goes out now; otherwise it is counted, and the cron mails it with the others. Where storage does not answer it goes out:
 * better one mail too many than none. Not repeated: each arrival counts once.
 */
export async function recordNotice(
  deps: { readonly db: Db; readonly sleep: Sleep; readonly nowMs: number },
  notice: Notice,
): Promise<boolean> {
  try {
    return isMailedNow(await withinLimit(deps.sleep, countNotice(deps.db, notice, deps.nowMs).execute()));
  } catch (error) {
    if (faultKind(error) === "other") throw error;
    return true;
  }
}
