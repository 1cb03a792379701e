// A logo for the demo's shop: a cup on a disc, drawn here as a PNG (RFC 2083), so that no file has to be kept.
import { crc32, deflateSync } from "node:zlib";

const SIZE = 96;
export const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** PNG bytes; `color` is `#rrggbb`. */
export function logoPng(color: string): Buffer {
  const [red = 0, green = 0, blue = 0] = Buffer.from(color.slice(1), "hex");
  const rows = Array.from({ length: SIZE }, (_, y) => {
    const pixels = Array.from({ length: SIZE }, (_, x) => {
      if (isCup(x, y)) return [255, 255, 255, 255];
      return isDisc(x, y) ? [red, green, blue, 255] : [0, 0, 0, 0];
    });
    // Each row begins with its filter, which is none.
    return [0, ...pixels.flat()];
  });
  const header = Buffer.alloc(13);
  header.writeUInt32BE(SIZE, 0);
  header.writeUInt32BE(SIZE, 4);
  // 8 bits, red green blue alpha.
  header.set([8, 6, 0, 0, 0], 8);
  return Buffer.concat([
    SIGNATURE,
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(Buffer.from(rows.flat()), { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function isDisc(x: number, y: number): boolean {
  return Math.hypot(x - SIZE / 2 + 0.5, y - SIZE / 2 + 0.5) < SIZE / 2;
}

function isCup(x: number, y: number): boolean {
  const isBody = x >= 28 && x < 60 && y >= 36 && y < 68 && (y < 60 || Math.hypot(x - 44, y - 56) < 18);
  const fromHandle = Math.hypot(x - 61, y - 48);
  const isHandle = x >= 60 && fromHandle > 6 && fromHandle < 11;
  return isBody || isHandle || (x >= 24 && x < 68 && y >= 72 && y < 76);
}

/** RFC 2083, 3.2. */
export function chunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, "latin1"), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}
