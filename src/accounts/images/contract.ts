// The wire format of images. They are uploaded as base64 in JSON, because every body of the API is JSON (decisions 4 "Merchant settings").
import * as z from "zod";
import { IMAGE_TYPES } from "./image.ts";

/** 32 KB are 43,692 characters in base64. A longer text up to this limit is refused with IMAGE_REFUSED. */
const MAX_BASE64 = 60_000;

export const uploadImageBody = () =>
  z.strictObject({
    contentType: z
      .string()
      .max(100)
      .meta({ description: "The media type of the image.", enum: [...IMAGE_TYPES] }),
    data: z
      .string()
      .max(MAX_BASE64)
      .meta({ description: "The file in base64; at most 32 KB before encoding.", contentEncoding: "base64" }),
  });

// ---- responses

export const imageBody = () =>
  z
    .object({
      name: z
        .string()
        .meta({ description: "SHA-256 of the file. Use it as `brand.logo` or as the `image` of a product." }),
      url: z.string().meta({ format: "uri" }),
      contentType: z.enum(IMAGE_TYPES),
    })
    .meta({ title: "Image" });
