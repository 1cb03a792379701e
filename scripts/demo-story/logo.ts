// Draws a logo for the demo's shop, a cup on a disc, so that no image file is needed.
import { PNG } from "pngjs";

const SIZE = 96;

/** PNG bytes; `color` is `#rrggbb`. */
export function logoPng(color: string): Buffer {
  const [red = 0, green = 0, blue = 0] = Buffer.from(color.slice(1), "hex");
  const logo = new PNG({ width: SIZE, height: SIZE });
  const pixels = Array.from({ length: SIZE * SIZE }, (_, at) => {
    const [x, y] = [at % SIZE, Math.floor(at / SIZE)];
    if (isCup(x, y)) return [255, 255, 255, 255];
    return isDisc(x, y) ? [red, green, blue, 255] : [0, 0, 0, 0];
  });
  logo.data.set(pixels.flat());
  // Flat colours compress best without a filter.
  return PNG.sync.write(logo, { filterType: 0, deflateStrategy: 0 });
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
