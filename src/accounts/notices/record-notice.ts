import type { Sleep } from "../../lib/sleep.ts";
import type { Db } from "../../platform/db/client.ts";
import { executeOnce, faultKind } from "../../platform/db/retry.ts";
import { countNotice, isMailedNow, type Notice } from "./store.ts";

/**
 * Whether its email is sent now; otherwise it is counted, and the cron emails it together with the others. If the storage fails the email is sent: one
 * mail too many is better than none. Each execution counts.
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
