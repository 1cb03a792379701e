// A QR code as one SVG path. Each page holds both codes for a payment, so size matters: rows drawn as strokes take half the bytes of boxes.
import { encodeQR } from "qr";

interface QrPath {
  /** Modules along one side, without the quiet zone: the page must leave four modules free on each side (ISO/IEC 18004 "Quiet zone"). */
  readonly size: number;
  /** Strokes, not areas: `<svg viewBox="-4 -4 {size + 8} {size + 8}"><path d={path} stroke="#000" /></svg>`, of the default width 1. */
  readonly path: string;
}

/** Encodes `text` with error correction M, which tolerates 15 % damage. Throws if it is too long for any code (over 2,331 bytes). */
export function qrPath(text: string): QrPath {
  // The package requires a border of at least one module.
  const rows = encodeQR(text, "raw", { ecc: "medium", border: 1 })
    .slice(1, -1)
    .map((row) => row.slice(1, -1));
  return { size: rows.length, path: pathOf(rows) };
}

/** One horizontal line for each run of dark modules, through their middle; each start is relative to the end of the previous line. */
function pathOf(rows: readonly (readonly boolean[])[]): string {
  const strokes: string[] = [];
  let from = { x: 0, y: 0 };
  rows.forEach((row, y) => {
    for (let x = row.indexOf(true); x !== -1; x = row.indexOf(true, from.x)) {
      const gap = row.indexOf(false, x);
      const end = gap === -1 ? row.length : gap;
      const move = strokes.length === 0 ? `M${x} ${y}.5` : `m${x - from.x} ${y - from.y}`;
      strokes.push(`${move}h${end - x}`);
      from = { x: end, y };
    }
  });
  return strokes.join("");
}
