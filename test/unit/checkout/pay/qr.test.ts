import fc from "fast-check";
import { decodeQR } from "qr/decode.js";
import { describe, expect, test } from "vitest";
import { NETWORKS } from "../../../../src/chains/registry/networks.ts";
import { paymentUri } from "../../../../src/chains/registry/payment-uri.ts";
import { qrPath } from "../../../../src/checkout/pay/qr.ts";
import { RUNS } from "../../../support/property-runs.ts";

const ADDRESSES = {
  bitcoin: [
    "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu",
    "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2",
    "bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr",
  ],
  evm: ["0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"],
  tron: ["TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH"],
} as const;

const QUIET = 4;
/** Pixels per module. The reader sometimes misses a timing pattern at one scale, so several are tried. */
const DISTANCES = [3, 4, 5];

/** Tries each scale until the code can be read, like a camera that is moved. */
function read(code: ReturnType<typeof qrPath>): string | undefined {
  for (const pixels of DISTANCES) {
    try {
      return decodeQR(pictureOf(code, pixels));
    } catch {
      // The code is not readable at this scale.
    }
  }
  return undefined;
}

/** What a camera would see: strokes of width 1 with this many pixels per module, and the quiet zone. */
function pictureOf({ size, path }: ReturnType<typeof qrPath>, pixels: number) {
  const side = (size + 2 * QUIET) * pixels;
  const data = new Uint8Array(side * side * 4).fill(255);
  let x = 0;
  let y = 0;
  for (const [, letter, one, other, run] of path.matchAll(/([Mm])(-?[\d.]+) (-?[\d.]+)h(\d+)/g)) {
    x = Number(one) + (letter === "m" ? x : 0);
    y = Number(other) + (letter === "m" ? y : 0);
    for (let row = (y - 0.5 + QUIET) * pixels; row < (y + 0.5 + QUIET) * pixels; row++) {
      for (let column = (x + QUIET) * pixels; column < (x + Number(run) + QUIET) * pixels; column++)
        data.fill(0, (row * side + column) * 4, (row * side + column) * 4 + 3);
    }
    x += Number(run);
  }
  return { width: side, height: side, data };
}

describe("a QR code", () => {
  const uris = NETWORKS.flatMap((network) =>
    ADDRESSES[network.family].flatMap((address) =>
      network.assets.flatMap((asset) =>
        [null, 123_456_789_012_345n].map((amountUnits) =>
          paymentUri({ network, asset, address, amountUnits, label: "Café Alpenrose, order 17" }),
        ),
      ),
    ),
  );

  test.each([...new Set([...Object.values(ADDRESSES).flat(), ...uris])])("of %s decodes to the same text", (text) => {
    expect(read(qrPath(text))).toBe(text);
  });

  test("of any text decodes to the same text", () => {
    const texts = fc.string({ unit: "grapheme", minLength: 1, maxLength: 120 }).filter((text) => text.isWellFormed());
    fc.assert(
      fc.property(texts, (text) => {
        expect(read(qrPath(text))).toBe(text);
      }),
      // This example is not readable with three pixels per module.
      { numRuns: RUNS, examples: [["㋭𖥖Ⲿ∨𖼄⏰𞴣⤂𐞐𑰀𐬬𐀆"]] },
    );
  });

  test("is one short path that consists only of strokes", () => {
    const { size, path } = qrPath("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed");
    expect(size).toBe(29);
    expect(path).toMatch(/^M0 0\.5h7(m-?\d+ [01]h\d+)+$/);
    expect(path.length).toBeLessThan(1_600);
  });

  test("can encode the longest text that its correction level allows, and nothing longer", () => {
    expect(qrPath("a".repeat(2_331)).size).toBe(177);
    expect(() => qrPath("a".repeat(2_332))).toThrow();
  });
});
