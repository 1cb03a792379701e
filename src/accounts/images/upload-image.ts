import { base64 } from "@scure/base";
import { derivedId, type MerchantId } from "../../lib/ids.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { Sleep } from "../../lib/sleep.ts";
import type { Trail } from "../../platform/audit/entry.ts";
import { insertAudit } from "../../platform/audit/store.ts";
import type { Db } from "../../platform/db/client.ts";
import { throwUnlessContention } from "../../platform/db/conflict.ts";
import type { Failure } from "../../platform/failures.ts";
import type { Prepared, Work } from "../../platform/idempotency/run-once.ts";
import { checkImage } from "./check-image.ts";
import { type ImageType, imageName, imageUrl, sniffImage } from "./image.ts";
import { insertImage } from "./store.ts";

export interface ImageDependencies {
  readonly db: Db;
  readonly sleep: Sleep;
  readonly nowMs: number;
  /** Our own origin, without a trailing slash. */
  readonly publicUrl: string;
}

interface UploadRequest {
  readonly merchantId: MerchantId;
  readonly trail: Trail;
  readonly contentType: string;
  /** Base64. */
  readonly data: string;
}

/** Uploads an image, as work for `runOnce`. Fails with IMAGE_REFUSED and the reason, or with LIMIT_REACHED. */
export function uploadImage(deps: ImageDependencies, request: UploadRequest): Work {
  return async (operationId, conflict): Promise<Prepared> => {
    const read = readImage(request);
    if (!read.ok) return { kind: "refused", failure: read.error };
    const { merchantId, trail } = request;
    const { bytes, contentType } = read.value;
    const name = imageName(bytes);
    if (conflict !== undefined) {
      throwUnlessContention("an upload", conflict);
      const room = await checkImage(deps, { merchantId, name, size: bytes.length });
      if (!room.ok) return { kind: "refused", failure: room.error };
    }
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
      body: JSON.stringify({ name, url: imageUrl(deps.publicUrl, { merchantId, name }), contentType }),
      statements: [
        ...insertImage(deps.db, { merchantId, contentType, bytes }, deps.nowMs),
        insertAudit(deps.db, trail, entry, deps.nowMs),
      ],
    };
  };
}

/** Decodes the image. The declared type must be the real one: a mislabelled file is a caller's mistake that would cause problems later. */
function readImage(
  upload: Pick<UploadRequest, "contentType" | "data">,
): Result<{ readonly bytes: Uint8Array; readonly contentType: ImageType }, Failure> {
  const bytes = decode(upload.data);
  if (bytes === undefined) return err({ code: "IMAGE_REFUSED", reason: "data is not valid base64" });
  const type = sniffImage(bytes);
  if (!type.ok) return err({ code: "IMAGE_REFUSED", reason: type.error });
  if (type.value !== upload.contentType)
    return err({ code: "IMAGE_REFUSED", reason: `its contentType must be ${type.value}, which is what the file is` });
  return ok({ bytes, contentType: type.value });
}

function decode(text: string): Uint8Array | undefined {
  try {
    return base64.decode(text);
  } catch {
    return undefined;
  }
}
