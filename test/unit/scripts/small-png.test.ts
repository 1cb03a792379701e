// Pictures are made by hand here, one row with each of PNG's filters, and read back by what the format says.
import { deflateSync, inflateSync } from "node:zlib";
import { expect, test } from "vitest";
import { chunk, SIGNATURE } from "../../../scripts/demo-story/logo.ts";
import { smallPng } from "../../../scripts/small-png.ts";

type Color = readonly [number, number, number];

function header(width: number, height: number): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2], 8);
  return head;
}

/** Row by row with the filters 0 to 4, and from the start again (RFC 2083, 6). */
function pngOf(rows: readonly (readonly Color[])[]): Buffer {
  const plain = rows.map((row) => row.flat());
  const lines = plain.map((row, y) => {
    const filter = y % 5;
    const coded = row.map((value, i) => {
      const left = row[i - 3] ?? 0;
      const up = plain[y - 1]?.[i] ?? 0;
      const corner = plain[y - 1]?.[i - 3] ?? 0;
      const guess = left + up - corner;
      const [nearest = 0] = [left, up, corner].toSorted((a, b) => Math.abs(guess - a) - Math.abs(guess - b));
      return (value - ([0, left, up, Math.floor((left + up) / 2), nearest][filter] ?? 0)) & 255;
    });
    return [filter, ...coded];
  });
  const data = deflateSync(Buffer.from(lines.flat()));
  const [width, height] = [rows[0]?.length ?? 0, rows.length];
  return Buffer.concat([
    SIGNATURE,
    chunk("IHDR", header(width, height)),
    chunk("IDAT", data),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

/** Of a picture with a palette and no filters. */
function colorsOf(png: Buffer): readonly (readonly Color[])[] {
  const part = (type: string) => {
    const at = png.indexOf(type, 0, "latin1");
    return png.subarray(at + 4, at + 4 + png.readUInt32BE(at - 4));
  };
  const width = part("IHDR").readUInt32BE(0);
  const palette = part("PLTE");
  const lines = inflateSync(part("IDAT"));
  return Array.from({ length: lines.length / (width + 1) }, (_, y) =>
    Array.from(lines.subarray(y * (width + 1) + 1, (y + 1) * (width + 1)), (index): Color => {
      const [red = 0, green = 0, blue = 0] = palette.subarray(index * 3);
      return [red, green, blue];
    }),
  );
}

test("a picture of few colours stays as it is, whatever filters its rows were written with", () => {
  const rows = Array.from({ length: 11 }, (_, y) =>
    Array.from({ length: 7 }, (_, x): Color => [(x * 37 + y * 11) & 255, (x * y * 5) & 255, 255 - x]),
  );
  expect(colorsOf(smallPng(pngOf(rows)))).toEqual(rows);
});

test("of more than 256 colours the frequent ones stay, and a rare one becomes the nearest of them", () => {
  const frequent = Array.from({ length: 256 }, (_, i): Color => [i, i, 0]);
  const rows = [frequent, frequent, [...frequent.slice(1), [90, 91, 1] satisfies Color]];
  const [first, , third] = colorsOf(smallPng(pngOf(rows)));
  expect(first).toEqual(frequent);
  expect([
    [90, 90, 0],
    [91, 91, 0],
  ]).toContainEqual(third?.at(-1));
});

test("what is no picture of that kind is refused", () => {
  expect(() => smallPng(Buffer.from("no picture at all, and long enough to be one"))).toThrow();
});
