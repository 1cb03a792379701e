import { base64 } from "@scure/base";
import type { Db } from "../db/client.ts";
import { readWithRetry } from "../db/retry.ts";
import type { Failure } from "../failures.ts";
import { err, ok, type Result } from "../lib/result.ts";
import type { Sleep } from "../lib/sleep.ts";
import { type ImageType, isImageName } from "./image.ts";
import { selectImage } from "./store.ts";

/** The bytes behind an address of ours; IMAGE_NOT_FOUND for any that has none. */
export async function serveImage(
  fx: { readonly db: Db; readonly sleep: Sleep },
  of: { readonly merchantId: string; readonly name: string },
): Promise<Result<{ readonly bytes: Uint8Array<ArrayBuffer>; readonly contentType: ImageType }, Failure>> {
  if (!isImageName(of.name)) return err({ code: "IMAGE_NOT_FOUND" });
  const rows = await readWithRetry(fx.sleep, async () => selectImage(fx.db, of));
  if (!rows.ok) return rows;
  const [image] = rows.value;
  if (image === undefined) return err({ code: "IMAGE_NOT_FOUND" });
  return ok({ bytes: new Uint8Array(base64.decode(image.bytes)), contentType: image.contentType });
}
