import type { Sleep } from "../../lib/sleep.ts";
import type { Db } from "../../platform/db/client.ts";
import { executeOnce, faultKind } from "../../platform/db/retry.ts";
import { countNotice, isMailedNow, type Notice } from "./store.ts";

/**
 * Whether the email about this notice is sent now; otherwise the notice is counted, and the cron emails it together with others. If storage fails,
 * the email is sent: one email too many is better than none. A failed call is not repeated, because each execution counts the notice again.
 */
export async function recordNotice(
  deps: { readonly db: Db; readonly sleep: Sleep; readonly nowMs: number },
  notice: Notice,
): Promise<boolean> {
  try {
    return isMailedNow(await executeOnce(deps.sleep, async () => countNotice(deps.db, notice, deps.nowMs)));
  } catch (error) {
    if (faultKind(error) === "other") throw error;
    return true;
  }
}
