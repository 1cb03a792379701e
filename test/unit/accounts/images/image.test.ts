import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  imageName,
  imageUrl,
  isImageName,
  MAX_IMAGE_BYTES,
  sniffImage,
} from "../../../../src/accounts/images/image.ts";
import { jpeg, png, webp } from "../../../support/images.ts";
import { RUNS } from "../../../support/property-runs.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);
const KINDS = [
  ["image/png", png],
  ["image/jpeg", jpeg],
  ["image/webp", webp],
] as const;

describe("an image", () => {
  it.each(KINDS)("is recognised as %s by its first bytes", (type, make) => {
    expect(sniffImage(make())).toEqual({ ok: true, value: type });
  });

  it.each(KINDS)("may have at most 32 KB: %s", (type, make) => {
    expect(sniffImage(make(MAX_IMAGE_BYTES))).toEqual({ ok: true, value: type });
    expect(sniffImage(make(MAX_IMAGE_BYTES + 1))).toEqual({
      ok: false,
      error: "it is larger than 32 KB; upload a smaller file",
    });
  });

  it.each([
    ["empty", new Uint8Array()],
    ["an SVG", bytesOf('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')],
    ["an SVG with a declaration", bytesOf('<?xml version="1.0"?><svg/>')],
    ["an HTML page", bytesOf("<!doctype html><script>alert(1)</script>")],
    ["a GIF", bytesOf("GIF89a----------------")],
    ["a BMP", bytesOf("BM------------------")],
    ["a PDF", bytesOf("%PDF-1.7")],
    ["a PNG after HTML", Uint8Array.from([...bytesOf("<p>"), ...png()])],
    ["a PNG's signature without its first chunk", png().slice(0, 12)],
    ["a RIFF file with sound", bytesOf("RIFF\u0010\0\0\0WAVEfmt ")],
    ["a WebP whose end is missing", webp().slice(0, 40)],
    ["a WebP of an unknown kind", bytesOf("RIFF\u0008\0\0\0WEBPVP8Y")],
  ])("cannot be %s", (_, bytes) => {
    expect(sniffImage(bytes)).toEqual({ ok: false, error: "it is not a PNG, JPEG or WebP image" });
  });

  it("is never recognised in plain text", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), (text) => {
        expect(sniffImage(bytesOf(text)).ok).toBe(false);
      }),
      { numRuns: RUNS },
    );
  });

  it("is named by the SHA-256 of its bytes in lower-case hex; a name in any other form is invalid", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        const name = imageName(bytes);
        expect(name).toBe(createHash("sha256").update(bytes).digest("hex"));
        expect(isImageName(name)).toBe(true);
      }),
      { numRuns: Math.min(RUNS, 1_000) },
    );
    expect(["", "../x", "A".repeat(64), "a".repeat(63), `${"a".repeat(64)}\n`].map(isImageName)).toEqual(
      new Array(5).fill(false),
    );
  });

  it("has a URL on our own origin", () => {
    const image = { merchantId: "mer_1", name: "ab" };
    expect(imageUrl("https://pay.example", image)).toBe("https://pay.example/images/mer_1/ab");
  });
});
