import { base64 } from "@scure/base";
import { err, ok, type Result } from "../../lib/result.ts";
import type { Sleep } from "../../lib/sleep.ts";
import type { Db } from "../../platform/db/client.ts";
import { readRow } from "../../platform/db/retry.ts";
import type { Failure } from "../../platform/failures.ts";
import { type ImageType, isImageName } from "./image.ts";
import { selectImage } from "./store.ts";

/** The bytes of a stored image. Fails with IMAGE_NOT_FOUND. */
export async function serveImage(
  deps: { readonly db: Db; readonly sleep: Sleep },
  of: { readonly merchantId: string; readonly name: string },
): Promise<Result<{ readonly bytes: Uint8Array<ArrayBuffer>; readonly contentType: ImageType }, Failure>> {
  if (!isImageName(of.name)) return err({ code: "IMAGE_NOT_FOUND" });
  const image = await readRow(deps.sleep, () => selectImage(deps.db, of), { code: "IMAGE_NOT_FOUND" });
  if (!image.ok) return image;
  const { bytes, contentType } = image.value;
  return ok({ bytes: new Uint8Array(base64.decode(bytes)), contentType });
}
