import type { Db } from "../../platform/db/client.ts";
import { selectImageName } from "../images/store.ts";
import { selectStewards } from "../teams/store.ts";

/**
 * What a change of settings reads besides the merchant: whether the new logo exists (the batch of the change asserts it again), and the recipients
 * of emails.
 */
export function settingsReads(db: Db, merchantId: string, logo: string | null | undefined) {
  return [selectImageName(db, { merchantId, name: logo ?? undefined }), selectStewards(db, merchantId)] as const;
}
