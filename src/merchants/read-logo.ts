import type { Db } from "../db/client.ts";
import { selectImageName } from "../images/store.ts";

/** Whether the image that a change of settings names is there; images are never taken away, so what was read holds. */
export function logoReads(db: Db, merchantId: string, logo: string | null | undefined) {
  return [selectImageName(db, { merchantId, name: logo ?? undefined })] as const;
}
