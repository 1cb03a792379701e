import { crc32, inflateSync } from "node:zlib";
import { expect, it } from "vitest";
import { logoPng } from "../../../../scripts/demo-story/logo.ts";
import { sniffImage } from "../../../../src/accounts/images/image.ts";

const SIDE = 96;

/** Name and data of each chunk, after checking its checksum. */
function chunksOf(png: Buffer): readonly (readonly [string, Buffer])[] {
  const chunks: [string, Buffer][] = [];
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    const body = png.subarray(at + 4, at + 8 + length);
    expect(png.readUInt32BE(at + 8 + length)).toBe(crc32(body));
    chunks.push([body.toString("latin1", 0, 4), body.subarray(4)]);
    at += 12 + length;
  }
  return chunks;
}

it("the demo's logo is a PNG that the service accepts, in the shop's colour on a transparent background", () => {
  const png = logoPng("#0f766e");
  expect(sniffImage(png)).toEqual({ ok: true, value: "image/png" });
  expect(png.length).toBeLessThan(1_000);
  const chunks = chunksOf(png);
  expect(chunks.map(([name]) => name)).toEqual(["IHDR", "IDAT", "IEND"]);
  const rows = inflateSync(chunks[1]?.[1] ?? Buffer.alloc(0));
  const pixel = (x: number, y: number) => [...rows.subarray(y * (1 + 4 * SIDE) + 1 + 4 * x).subarray(0, 4)];
  expect(rows.length).toBe(SIDE * (1 + 4 * SIDE));
  expect(pixel(0, 0)).toEqual([0, 0, 0, 0]);
  expect(pixel(SIDE / 2, 10)).toEqual([0x0f, 0x76, 0x6e, 0xff]);
});
