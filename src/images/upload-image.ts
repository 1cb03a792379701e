import { base64 } from "@scure/base";
import type { Trail } from "../audit/entry.ts";
import { insertAudit } from "../audit/store.ts";
import type { Db } from "../db/client.ts";
import type { Failure } from "../failures.ts";
import type { Prepared, Work } from "../idempotency/run-once.ts";
import { derivedId, type MerchantId } from "../lib/ids.ts";
import { err, ok, type Result } from "../lib/result.ts";
import { type ImageType, imageName, imageUrl, sniffImage } from "./image.ts";
import { insertImage } from "./store.ts";

export interface ImageEffects {
  readonly db: Db;
  readonly nowMs: number;
  /** Our own origin, without a slash at its end. */
  readonly publicUrl: string;
}

export interface UploadRequest {
  readonly merchantId: MerchantId;
  readonly trail: Trail;
  readonly contentType: string;
  /** Base64. */
  readonly data: string;
}

/** The work of one upload, for `runOnce`. Refuses IMAGE_REFUSED with the reason. */
export function uploadImage(fx: ImageEffects, request: UploadRequest): Work {
  return async (operationId): Promise<Prepared> => {
    const read = readImage(request);
    if (!read.ok) return { kind: "refused", failure: read.error };
    const { merchantId, trail } = request;
    const { bytes, contentType } = read.value;
    const name = imageName(bytes);
    const entry = {
      id: derivedId("aud", operationId),
      merchantId,
      action: "image.uploaded",
      target: name,
      after: { contentType, size: bytes.length },
    } as const;
    return {
      kind: "ready",
      status: 201,
      body: JSON.stringify({ name, url: imageUrl(fx.publicUrl, { merchantId, name }), contentType }),
      statements: [
        insertImage(fx.db, { merchantId, contentType, bytes }, fx.nowMs),
        insertAudit(fx.db, trail, entry, fx.nowMs),
      ],
    };
  };
}

/** What was declared must be what it is: a mislabelled file is a mistake of the caller's that would come back later. */
function readImage(
  upload: Pick<UploadRequest, "contentType" | "data">,
): Result<{ readonly bytes: Uint8Array; readonly contentType: ImageType }, Failure> {
  const bytes = decode(upload.data);
  if (bytes === undefined) return err({ code: "IMAGE_REFUSED", reason: "data is not base64" });
  const type = sniffImage(bytes);
  if (!type.ok) return err({ code: "IMAGE_REFUSED", reason: type.error });
  if (type.value !== upload.contentType) return err({ code: "IMAGE_REFUSED", reason: `it is ${type.value}` });
  return ok({ bytes, contentType: type.value });
}

function decode(text: string): Uint8Array | undefined {
  try {
    return base64.decode(text);
  } catch {
    return undefined;
  }
}
