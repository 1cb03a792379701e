import { base64 } from "@scure/base";
import { describe, expect, it } from "vitest";
import { imageSource } from "../../../../src/commerce/products/image-source.ts";
import { png } from "../../../support/images.ts";

const NAME = "ab".repeat(32);
const ours = { publicUrl: "https://pay.example", merchantId: "mer_01ARZ3NDEKTSV4RRFFQ69G5FAV" };
const dataOf = (type: string, bytes: Uint8Array = png()) => `data:${type};base64,${base64.encode(bytes)}`;

describe("the source of a product image", () => {
  it.each([
    ["an image name", NAME, { kind: "named", name: NAME }],
    ["our own address", `${ours.publicUrl}/images/${ours.merchantId}/${NAME}`, { kind: "named", name: NAME }],
    ["image bytes", dataOf("image/png"), { kind: "given", contentType: "image/png", bytes: png() }],
    [
      "image bytes with the type in capitals",
      dataOf("IMAGE/PNG"),
      { kind: "given", contentType: "image/png", bytes: png() },
    ],
    ["a remote address", "https://pictures.example/a", { kind: "remote", url: "https://pictures.example/a" }],
    [
      "another merchant's image on our origin, which counts as a remote address",
      `${ours.publicUrl}/images/mer_other/${NAME}`,
      { kind: "remote", url: `${ours.publicUrl}/images/mer_other/${NAME}` },
    ],
  ])("is %s", (_, text, source) => {
    expect(imageSource(text, ours)).toEqual({ ok: true, value: source });
  });

  it.each([
    ["bytes whose type is not the declared one", dataOf("image/jpeg")],
    ["bytes that are not an image", dataOf("image/png", new TextEncoder().encode("<svg/>"))],
    ["an SVG", dataOf("image/svg+xml", new TextEncoder().encode("<svg/>"))],
    ["empty bytes", "data:image/png;base64,"],
    ["percent encoding", "data:image/png,%89PNG"],
    ["base64 that is cut off", dataOf("image/png").slice(0, -1)],
    ["a data URL with parameters", dataOf("image/png;charset=utf-8")],
    ["a name with a digit missing", NAME.slice(1)],
    ["a file: URL", "file:///etc/passwd"],
    ["a host in the local network", "https://router.local/a.png"],
  ])("is refused for %s", (_, text) => {
    expect(imageSource(text, ours)).toMatchObject({ ok: false, error: expect.stringMatching(/^it/) });
  });
});
