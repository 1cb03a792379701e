import type { Db } from "../../platform/db/client.ts";
import { selectImageName } from "../images/store.ts";
import { selectStewards } from "../teams/store.ts";

/**
 * What a change of settings needs beside the merchant: whether the image that it names is there (the batch that names it asserts it once more),
 * and who is mailed.
 */
export function settingsReads(db: Db, merchantId: string, logo: string | null | undefined) {
  return [selectImageName(db, { merchantId, name: logo ?? undefined }), selectStewards(db, merchantId)] as const;
}
