// The wire of images: uploaded as base64 in JSON, because every body of the API is JSON (decisions 4 "Merchant settings").
import * as z from "zod";
import { IMAGE_TYPES } from "./image.ts";

/** Base64 of 32 KB has 43,692 characters; a longer text up to this limit gets the image's own refusal. */
const MAX_BASE64 = 60_000;

export const uploadImageBody = () =>
  z.strictObject({
    contentType: z
      .string()
      .max(100)
      .meta({ description: "What the image is.", enum: [...IMAGE_TYPES] }),
    data: z
      .string()
      .max(MAX_BASE64)
      .meta({ description: "The file's bytes in base64; at most 32 KB of them.", contentEncoding: "base64" }),
  });

// ---- answers

export const imageBody = () =>
  z
    .object({
      name: z.string().meta({ description: "SHA-256 of the bytes: the name of the image wherever one is named." }),
      url: z.string().meta({ format: "uri" }),
      contentType: z.enum(IMAGE_TYPES),
    })
    .meta({ title: "Image" });
