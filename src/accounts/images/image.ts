// Decides which bytes may be served as an image from our origin (decisions 4 "Merchant settings"): a small PNG, JPEG or WebP, recognised by its
// first bytes. The type that a caller or another server declares is ignored. SVG and anything else that can hold a script is refused.
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "../../lib/bytes.ts";
import { LIMITS } from "../../lib/limits.ts";
import { err, ok, type Result } from "../../lib/result.ts";

export const MAX_IMAGE_BYTES = LIMITS.imageBytes;
export const IMAGE_TYPES = ["image/png", "image/jpeg", "image/webp"] as const;
export type ImageType = (typeof IMAGE_TYPES)[number];

/** The signature, then the length and the name of the first chunk (PNG, "5.2 PNG signature", "11.2.1 IHDR"). */
const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52];
/** Start of image, then the first byte of any marker (ITU-T T.81, B.1.1). */
const JPEG = [0xff, 0xd8, 0xff];
const RIFF = [0x52, 0x49, 0x46, 0x46];
/** "WEBPVP8" at byte 8, followed by a space, L or X. Between "RIFF" and this is the length of the rest, little-endian. */
const WEBP = [0x57, 0x45, 0x42, 0x50, 0x56, 0x50, 0x38];
const WEBP_KINDS = [0x20, 0x4c, 0x58];

/** The type of an image by its bytes; the error is the reason of `IMAGE_REFUSED`. */
export function sniffImage(bytes: Uint8Array): Result<ImageType, string> {
  if (bytes.length > MAX_IMAGE_BYTES) return err("it is larger than 32 KB; upload a smaller file");
  if (startsWith(bytes, PNG)) return ok("image/png");
  if (startsWith(bytes, JPEG)) return ok("image/jpeg");
  if (isWebp(bytes)) return ok("image/webp");
  return err("it is not a PNG, JPEG or WebP image");
}

/** The name of an image: SHA-256 of its bytes, so that equal images of a merchant share a row and the content of a name never changes. */
export function imageName(bytes: Uint8Array): string {
  return bytesToHex(sha256(bytes));
}

export function isImageName(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}

/** The URL of an image. `origin` is our own, without a trailing slash. */
export function imageUrl(origin: string, image: { readonly merchantId: string; readonly name: string }): string {
  return `${origin}/images/${image.merchantId}/${image.name}`;
}

function isWebp(bytes: Uint8Array): boolean {
  if (!startsWith(bytes, RIFF) || !startsWith(bytes, WEBP, 8) || !WEBP_KINDS.includes(bytes[15] ?? 0)) return false;
  const rest = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(4, true);
  return rest + 8 <= bytes.length;
}

function startsWith(bytes: Uint8Array, wanted: readonly number[], offset = 0): boolean {
  return wanted.every((byte, i) => bytes[offset + i] === byte);
}
