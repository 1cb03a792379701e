import type { MerchantId } from "../../lib/ids.ts";
import { LIMITS, limitReached } from "../../lib/limits.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { Sleep } from "../../lib/sleep.ts";
import type { Db } from "../../platform/db/client.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Failure } from "../../platform/failures.ts";
import { selectImageRoom } from "./store.ts";

/**
 * Why a batch that stores or refers to an image failed, if the image is the reason. `size`: the size in bytes of an image to store; undefined if
 * the batch refers to an existing one.
 */
export async function checkImage(
  deps: { readonly db: Db; readonly sleep: Sleep },
  of: { readonly merchantId: MerchantId; readonly name: string; readonly size: number | undefined },
): Promise<Result<undefined, Failure>> {
  const rows = await readWithRetry(deps.sleep, async () => selectImageRoom(deps.db, of));
  if (!rows.ok) return rows;
  const [room = { isThere: 0, count: 0, bytes: 0 }] = rows.value;
  if (room.isThere === 1) return ok(undefined);
  if (of.size === undefined) return err({ code: "IMAGE_NOT_FOUND" });
  if (room.count >= LIMITS.imagesPerMerchant) return err(limitReached("imagesPerMerchant"));
  if (room.bytes + of.size > LIMITS.imageBytesPerMerchant) return err(limitReached("imageBytesPerMerchant"));
  return ok(undefined);
}
