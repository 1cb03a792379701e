import type { Db } from "../../platform/db/client.ts";
import { selectImageName } from "../images/store.ts";
import { selectStewards } from "../teams/store.ts";

/**
 * Further reads for a change of the settings: whether the new logo exists (the batch asserts it again), and the recipients of emails about the
 * change.
 */
export function settingsReads(db: Db, merchantId: string, logo: string | null | undefined) {
  return [selectImageName(db, { merchantId, name: logo ?? undefined }), selectStewards(db, merchantId)] as const;
}
