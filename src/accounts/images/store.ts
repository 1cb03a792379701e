import { base64 } from "@scure/base";
import { and, eq, sql } from "drizzle-orm";
import type { MerchantId } from "../../lib/ids.ts";
import { LIMITS } from "../../lib/limits.ts";
import type { Db } from "../../platform/db/client.ts";
import { prepared } from "../../platform/db/prepared-statement.ts";
import { assertions } from "../../platform/db/schema/operations.ts";
import { imageFacts, images, products } from "../../platform/db/schema/products.ts";
import { type ImageType, imageName } from "./image.ts";

interface NewImage {
  readonly merchantId: MerchantId;
  /** The result of `sniffImage`. */
  readonly contentType: ImageType;
  readonly bytes: Uint8Array;
}

/**
 * Stores an image under `imageName(bytes)`; aborts the batch if the merchant has reached its limit. If an image of that name exists, it has the same
 * bytes, and is kept for as long as a new image would be.
 */
export function insertImage(db: Db, image: NewImage, nowMs: number) {
  const { merchantId, contentType, bytes } = image;
  const [name, size] = [imageName(bytes), bytes.length];
  const seen = { unusedSinceMs: null, sweptAtMs: nowMs };
  return [
    db.insert(assertions).select(
      sql`select 'there is room for the image', 0
        where not exists (select 1 from image_facts where merchant_id = ${merchantId} and name = ${name})
        and ((select count(*) from image_facts where merchant_id = ${merchantId}) >= ${LIMITS.imagesPerMerchant}
          or (${sizes(merchantId)}) + ${size} > ${LIMITS.imageBytesPerMerchant})`,
    ),
    db
      .insert(images)
      .values({ merchantId, name, contentType, bytes: base64.encode(bytes), createdAtMs: nowMs })
      .onConflictDoNothing(),
    db
      .insert(imageFacts)
      .values({ merchantId, name, size, ...seen })
      .onConflictDoUpdate({ target: [imageFacts.merchantId, imageFacts.name], set: seen }),
  ] as const;
}

const sizes = (merchantId: MerchantId) =>
  sql`select coalesce(sum(size), 0) from image_facts where merchant_id = ${merchantId}`;

/** Whether an image is stored, and how many images and bytes the merchant has. */
export function selectImageRoom(db: Db, of: { readonly merchantId: MerchantId; readonly name: string }) {
  const mine = sql`from image_facts where merchant_id = ${of.merchantId}`;
  return db
    .select({
      isThere: sql<number>`exists (select 1 ${mine} and name = ${of.name})`.as("is_there"),
      count: sql<number>`(select count(*) ${mine})`.as("image_count"),
      bytes: sql<number>`(${sizes(of.merchantId)})`.as("image_bytes"),
    })
    .from(sql`(select 1)`);
}

/** Aborts the batch if the image was deleted: the sweep deletes an image after a week without a reference. */
export function assertImage(db: Db, of: { readonly merchantId: MerchantId; readonly name: string }) {
  return db.insert(assertions).select(
    sql`select 'the image is there', 0
      where not exists (select 1 from images where merchant_id = ${of.merchantId} and name = ${of.name})`,
  );
}

/** Deletes all images of a deleted merchant. */
export function deleteImagesOf(db: Db, merchantId: MerchantId) {
  return [
    db.delete(images).where(eq(images.merchantId, merchantId)),
    db.delete(imageFacts).where(eq(imageFacts.merchantId, merchantId)),
  ] as const;
}

/**
 * Whether an image is used: as the logo of its live merchant, or by one of the merchant's products. A deleted product counts while its invoices may
 * still be open.
 */
const isUsed = (deletedAfterMs: number) => sql`exists (select 1 from merchants shop
    where shop.id = image_facts.merchant_id and shop.deleted_at_ms is null and (json_extract(shop.brand, '$.logo') = image_facts.name
      or exists (select 1 from products article where article.merchant_id = image_facts.merchant_id
        and article.image = image_facts.name and (article.deleted_at_ms is null or article.deleted_at_ms > ${deletedAfterMs}))))`;

/**
 * Records when each image was first found unused. Checks at most `limit` images that were last checked before `beforeMs`, starting with the oldest
 * check.
 */
export function markUnused(
  db: Db,
  of: {
    readonly nowMs: number;
    readonly beforeMs: number;
    readonly deletedAfterMs: number;
    readonly limit: number;
  },
) {
  return db
    .update(imageFacts)
    .set({
      sweptAtMs: of.nowMs,
      unusedSinceMs: sql`case when ${isUsed(of.deletedAfterMs)} then null else coalesce(unused_since_ms, ${of.nowMs}) end`,
    })
    .where(
      sql`rowid in (select rowid from image_facts where swept_at_ms < ${of.beforeMs} order by swept_at_ms limit ${of.limit})`,
    );
}

/** Deletes at most `limit` images that have been unused since `unusedSinceMs`, and clears the references to them in products deleted long ago. */
export function deleteUnused(
  db: Db,
  of: { readonly unusedSinceMs: number; readonly deletedAfterMs: number; readonly limit: number },
) {
  const doomed = sql`select merchant_id, name from image_facts
    where unused_since_ms <= ${of.unusedSinceMs} and not ${isUsed(of.deletedAfterMs)}
    order by unused_since_ms, rowid limit ${of.limit}`;
  return [
    db
      .update(products)
      .set({ image: null })
      .where(
        sql`rowid in (select article.rowid from (${doomed}) gone
          join products article on article.merchant_id = gone.merchant_id and article.image = gone.name)`,
      ),
    db.delete(images).where(sql`(merchant_id, name) in (${doomed})`),
    db.delete(imageFacts).where(sql`(merchant_id, name) in (${doomed})`),
  ] as const;
}

/** An image to serve, with its bytes in base64. `merchantId` and `name` may come from the path, unauthenticated. */
export const selectImage = prepared(
  (of: { readonly merchantId: string; readonly name: string }) => of,
  (db, of) =>
    db
      .select({ contentType: images.contentType, bytes: images.bytes })
      .from(images)
      .where(and(eq(images.merchantId, of.merchantId), eq(images.name, of.name)))
      .limit(1),
);

/** Returns a row if the merchant has an image with this name; none for an undefined name. `merchantId` may come from the path, unauthenticated. */
export const selectImageName = prepared(
  (of: { readonly merchantId: string; readonly name: string | undefined }) => ({
    merchantId: of.merchantId,
    name: of.name ?? "",
  }),
  (db, of) =>
    db
      .select({ name: images.name })
      .from(images)
      .where(and(eq(images.merchantId, of.merchantId), eq(images.name, of.name)))
      .limit(1),
);
