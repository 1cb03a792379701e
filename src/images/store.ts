import { base64 } from "@scure/base";
import { and, eq, sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { images } from "../db/schema/products.ts";
import { template } from "../db/template.ts";
import type { MerchantId } from "../lib/ids.ts";
import { type ImageType, imageName } from "./image.ts";

const imageByName = template((db) =>
  db
    .select({ contentType: images.contentType, bytes: images.bytes })
    .from(images)
    .where(and(eq(images.merchantId, sql.placeholder("merchantId")), eq(images.name, sql.placeholder("name"))))
    .limit(1),
);
const nameOfImage = template((db) =>
  db
    .select({ name: images.name })
    .from(images)
    .where(and(eq(images.merchantId, sql.placeholder("merchantId")), eq(images.name, sql.placeholder("name"))))
    .limit(1),
);

export interface NewImage {
  readonly merchantId: MerchantId;
  /** As `sniffImage` told it. */
  readonly contentType: ImageType;
  readonly bytes: Uint8Array;
}

/** Keeps an image under `imageName(bytes)`. One that is there already stays: under that name there are no other bytes. */
export function insertImage(db: Db, image: NewImage, nowMs: number) {
  return db
    .insert(images)
    .values({
      merchantId: image.merchantId,
      name: imageName(image.bytes),
      contentType: image.contentType,
      bytes: base64.encode(image.bytes),
      createdAtMs: nowMs,
    })
    .onConflictDoNothing();
}

/** An image to serve, its bytes in base64. Both may be a path's, unproved. */
export function selectImage(db: Db, of: { readonly merchantId: string; readonly name: string }) {
  return imageByName(db, of);
}

/** Whether a merchant has an image of a name, without its bytes; none for an undefined name. `merchantId` may be a path's, unproved. */
export function selectImageName(db: Db, of: { readonly merchantId: string; readonly name: string | undefined }) {
  return nameOfImage(db, { merchantId: of.merchantId, name: of.name ?? "" });
}
