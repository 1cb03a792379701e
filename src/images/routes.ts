import { type MountedRoute, merchantRoute } from "../auth/middleware.ts";
import { noBody, noQuery } from "../http/route.ts";
import { answerOnce } from "../idempotency/middleware.ts";
import { ok } from "../lib/result.ts";
import { openRoute } from "../sign-in/middleware.ts";
import { FREE_TEXT } from "../wallets/secret-material.ts";
import { imageBody, uploadImageBody } from "./contract.ts";
import { imageEffects } from "./effects.ts";
import { serveImage } from "./serve-image.ts";
import { uploadImage } from "./upload-image.ts";

const upload = merchantRoute({
  spec: {
    method: "POST",
    path: "/api/v1/merchants/merchant/:merchantId/images",
    operationId: "uploadImage",
    tag: "Merchants",
    summary: "Upload an image",
    description:
      "PNG, JPEG or WebP of at most 32 KB. Name it in the setting `brand.logo`, or as the `image` of a product, to show it.",
    callers: "MEMBER_OR_KEY",
    permission: "merchant:update",
    isForPublicKeys: false,
    isIdempotent: true,
    body: uploadImageBody,
    query: noQuery,
    answers: [{ status: 201, description: "Its name and address", schema: imageBody }],
    refusals: ["IMAGE_REFUSED"],
  },
  secrets: FREE_TEXT,
  effects: imageEffects,
  reads: () => [],
  answer: async (call) => {
    const { merchantId } = call.principal;
    return answerOnce(call, uploadImage(call.fx, { merchantId, trail: call.trail, ...call.body }));
  },
});

const serve = openRoute({
  spec: {
    method: "GET",
    path: "/images/:merchantId/:name",
    operationId: "serveImage",
    tag: "Service",
    summary: "An uploaded image",
    callers: "ANYBODY",
    permission: null,
    isForPublicKeys: false,
    isIdempotent: false,
    body: noBody,
    query: noQuery,
    answers: [{ status: 200, description: "The image, for ever the same", alsoAs: "image/*" }],
    refusals: ["IMAGE_NOT_FOUND", "STORAGE_UNAVAILABLE"],
  },
  effects: imageEffects,
  answer: async (call) => {
    const { merchantId = "", name = "" } = call.params;
    const image = await serveImage(call.fx, { merchantId, name });
    if (!image.ok) return image;
    const { bytes, contentType } = image.value;
    const headers = {
      "content-type": contentType,
      "cache-control": "public, max-age=31536000, immutable",
      // A merchant's own pages may show it too; it holds nothing that is anybody's.
      "cross-origin-resource-policy": "cross-origin",
    };
    return ok({ status: 200, body: new Blob([bytes]).stream(), headers });
  },
});

export const imageRoutes: readonly MountedRoute[] = [upload, serve];
