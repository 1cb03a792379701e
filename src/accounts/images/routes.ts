import { IMAGE_UPLOAD } from "../../chains/secrets/secret-material.ts";
import { ok } from "../../lib/result.ts";
import { answerOnce } from "../pipeline/answer-once.ts";
import { type MountedRoute, routesOf } from "../pipeline/routes-of.ts";
import { imageBody, uploadImageBody } from "./contract.ts";
import { imageDependencies } from "./dependencies.ts";
import { serveImage } from "./serve-image.ts";
import { uploadImage } from "./upload-image.ts";

const upload = routesOf({ tag: "Merchants", callers: "MEMBER_OR_KEY", dependencies: imageDependencies }).post(
  "/api/v1/merchants/merchant/:merchantId/images",
  {
    operationId: "uploadImage",
    summary: "Upload an image",
    description:
      "PNG, JPEG or WebP of at most 32 KB. To show it, use its name in the setting `brand.logo` or as the `image` of a product. An image that is not used for 7 days is deleted.",
    permission: "merchant:update",
    isIdempotent: true,
    body: uploadImageBody,
    answers: [{ status: 201, description: "The image's name and URL", schema: imageBody }],
    refusals: ["IMAGE_REFUSED", "LIMIT_REACHED"],
    secrets: IMAGE_UPLOAD,
    answer: async (call) => {
      const { merchantId } = call.principal;
      return answerOnce(call, uploadImage(call.deps, { merchantId, trail: call.trail, ...call.body }));
    },
  },
);

const serve = routesOf({ tag: "Service", callers: "ANYBODY", dependencies: imageDependencies }).get(
  "/images/:merchantId/:name",
  {
    operationId: "serveImage",
    summary: "Read an uploaded image",
    answers: [{ status: 200, description: "The image; its content never changes", alsoAs: "image/*" }],
    refusals: ["IMAGE_NOT_FOUND", "STORAGE_UNAVAILABLE"],
    answer: async (call) => {
      const { merchantId = "", name = "" } = call.params;
      const image = await serveImage(call.deps, { merchantId, name });
      if (!image.ok) return image;
      const { bytes, contentType } = image.value;
      const headers = {
        "content-type": contentType,
        "cache-control": "public, max-age=31536000, immutable",
        // A merchant's own pages may show the image too, because it is public.
        "cross-origin-resource-policy": "cross-origin",
      };
      return ok({ status: 200, body: new Blob([bytes]).stream(), headers });
    },
  },
);

export const imageRoutes: readonly MountedRoute[] = [...upload, ...serve];
