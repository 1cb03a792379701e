// A PNG with at most 256 colours: a third of the size of a PNG in full colour, and hardly distinguishable from it for flat pages.
import { crc32, deflateSync } from "node:zlib";
import { PNG } from "pngjs";

const MOST_COLOURS = 256;
const SIGNATURE = Buffer.from("89504e470d0a1a0a", "hex");

/** The same picture, opaque and with only its most frequent colours. Any other colour becomes the closest of these. */
export function palettePng(png: Buffer): Buffer {
  const { width, height, data } = PNG.sync.read(png);
  const colours = Uint32Array.from({ length: width * height }, (_, pixel) => data.readUInt32BE(pixel * 4) >>> 8);
  const { palette, indexOf } = paletteOf(colours);
  // Each line begins with the number of its filter: 0, no filter, which suits flat colours.
  const lines = Buffer.alloc((width + 1) * height);
  for (const [pixel, colour] of colours.entries())
    lines[pixel + Math.floor(pixel / width) + 1] = indexOf.get(colour) ?? 0;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // 8 bits per pixel, indexed.
  header.set([8, 3], 8);
  return Buffer.concat([
    SIGNATURE,
    chunk("IHDR", header),
    chunk("PLTE", Buffer.from(palette.flatMap(channels))),
    chunk("IDAT", deflateSync(lines, { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function paletteOf(colours: Uint32Array) {
  const counts = new Map<number, number>();
  for (const colour of colours) counts.set(colour, (counts.get(colour) ?? 0) + 1);
  const byCount = [...counts].toSorted(([, a], [, b]) => b - a).map(([colour]) => colour);
  const palette = byCount.slice(0, MOST_COLOURS);
  const indexOf = new Map(palette.map((colour, index) => [colour, index]));
  for (const colour of byCount.slice(MOST_COLOURS)) indexOf.set(colour, nearest(palette, colour));
  return { palette, indexOf };
}

function nearest(palette: readonly number[], colour: number): number {
  let [best, least] = [0, Number.POSITIVE_INFINITY];
  const wanted = channels(colour);
  for (const [index, each] of palette.entries()) {
    const distance = channels(each).reduce((sum, value, place) => sum + (value - (wanted[place] ?? 0)) ** 2, 0);
    if (distance < least) [best, least] = [index, distance];
  }
  return best;
}

function channels(colour: number): readonly number[] {
  return [colour >> 16, (colour >> 8) & 255, colour & 255];
}

/** Length, type, content, and the checksum of the last two. */
function chunk(type: string, content: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, "latin1"), content]);
  const framed = Buffer.alloc(typed.length + 8);
  framed.writeUInt32BE(content.length, 0);
  typed.copy(framed, 4);
  framed.writeUInt32BE(crc32(typed), typed.length + 4);
  return framed;
}
