// Makes pictures of pages small: few colours and a slow, good compression (RFC 2083), where a browser writes many quickly.
import { deflateSync, inflateSync } from "node:zlib";
import { chunk, SIGNATURE } from "./demo-story/logo.ts";

/** What an index of one byte can name. */
const MOST_COLORS = 256;
/** Bytes of a pixel by PNG's colour type: true colour, and the same with alpha. */
const PIXEL_BYTES: Readonly<Record<number, number>> = { 2: 3, 6: 4 };

/**
 * The same picture with at most 256 colours: the most frequent ones as they are, each other one as the nearest of them. `png` has 8 bits a channel, is
 * not interlaced and opaque, as browsers write pages.
 */
export function smallPng(png: Buffer): Buffer {
  const chunks = chunksOf(png);
  const [header] = chunks.filter(({ type }) => type === "IHDR");
  if (header === undefined) throw new Error("no PNG");
  const width = header.data.readUInt32BE(0);
  const bytes = PIXEL_BYTES[header.data[9] ?? 0];
  if (bytes === undefined || header.data[8] !== 8 || header.data[12] !== 0)
    throw new Error("no PNG of the kind that browsers write");
  const packed = Buffer.concat(chunks.flatMap(({ type, data }) => (type === "IDAT" ? [data] : [])));
  const rows = unfiltered(inflateSync(packed), width * bytes, bytes);
  const colors = rows.map((row) => Array.from({ length: width }, (_, x) => row.readUIntBE(x * bytes, 3)));
  const palette = mostFrequent(colors);
  const indexOf = nearestIn(palette);
  const lines = colors.map((row) => Buffer.from([0, ...row.map(indexOf)]));
  const head = Buffer.from(header.data);
  // 8 bits that name a colour of the palette.
  head.set([8, 3], 8);
  return Buffer.concat([
    SIGNATURE,
    chunk("IHDR", head),
    chunk("PLTE", Buffer.from(palette.flatMap((color) => [...channels(color)]))),
    chunk("IDAT", deflateSync(Buffer.concat(lines), { level: 9, memLevel: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function chunksOf(png: Buffer): readonly { readonly type: string; readonly data: Buffer }[] {
  const chunks = [];
  for (let at = SIGNATURE.length; at < png.length; ) {
    const length = png.readUInt32BE(at);
    chunks.push({ type: png.toString("latin1", at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) });
    at += length + 12;
  }
  return chunks;
}

/** RFC 2083, 6: each row was written as its difference to what is left of it and above. */
function unfiltered(data: Buffer, rowBytes: number, pixelBytes: number): readonly Buffer[] {
  const rows: Buffer[] = [];
  let above: Buffer = Buffer.alloc(rowBytes);
  for (let at = 0; at < data.length; at += rowBytes + 1) {
    const filter = data[at];
    const row = Buffer.from(data.subarray(at + 1, at + 1 + rowBytes));
    for (let i = 0; i < rowBytes; i++) {
      const left = row[i - pixelBytes] ?? 0;
      const up = above[i] ?? 0;
      const corner = i < pixelBytes ? 0 : (above[i - pixelBytes] ?? 0);
      const guesses = [0, left, up, (left + up) >> 1, paeth(left, up, corner)];
      row[i] = ((row[i] ?? 0) + (guesses[filter ?? 0] ?? 0)) & 255;
    }
    rows.push(row);
    above = row;
  }
  return rows;
}

function paeth(left: number, up: number, corner: number): number {
  const guess = left + up - corner;
  const [toLeft, toUp, toCorner] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
  if (toLeft <= toUp && toLeft <= toCorner) return left;
  return toUp <= toCorner ? up : corner;
}

function mostFrequent(rows: readonly (readonly number[])[]): readonly number[] {
  const counts = new Map<number, number>();
  for (const row of rows) for (const color of row) counts.set(color, (counts.get(color) ?? 0) + 1);
  const sorted = [...counts].toSorted(([, a], [, b]) => b - a);
  return sorted.slice(0, MOST_COLORS).map(([color]) => color);
}

function nearestIn(palette: readonly number[]): (color: number) => number {
  const known = new Map(palette.map((color, index) => [color, index]));
  return (color) => {
    const index = known.get(color) ?? nearest(palette, color);
    known.set(color, index);
    return index;
  };
}

function nearest(palette: readonly number[], color: number): number {
  const distances = palette.map((each) => distance(channels(each), channels(color)));
  return distances.indexOf(Math.min(...distances));
}

function distance(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, i) => sum + (value - (b[i] ?? 0)) ** 2, 0);
}

function channels(color: number): readonly [number, number, number] {
  return [color >> 16, (color >> 8) & 255, color & 255];
}
