import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeSegwit } from "../../../../src/chains/encodings/segwit.ts";
import { bytesToHex } from "../../../../src/lib/bytes.ts";
import { BECH32, mutationOf } from "../../../support/mutations.ts";
import { RUNS } from "../../../support/property-runs.ts";
import { encodeSegwit } from "../../../support/segwit-text.ts";
import vectors from "../../../vectors/bip173-bip350.json" with { type: "json" };

describe("the vectors of BIP173 and BIP350", () => {
  test.each(vectors.valid)("%s decodes to the script %s", (address, script) => {
    const decoded = decodeSegwit(address ?? "");
    if (!decoded.ok) throw new Error(decoded.error);
    const { version, program } = decoded.value;
    const opcode = version === 0 ? 0x00 : 0x50 + version;
    expect(bytesToHex(Uint8Array.of(opcode, program.length, ...program))).toBe(script);
    expect(encodeSegwit(decoded.value)).toBe(address?.toLowerCase());
  });

  test.each(vectors.invalid)("%s is refused: %s", (address) => {
    const decoded = decodeSegwit(address ?? "");
    expect(!decoded.ok || !["bc", "tb"].includes(decoded.value.hrp)).toBe(true);
  });
});

const programs = fc
  .record({ hrp: fc.constantFrom("bc", "tb", "bcrt", "ltc", "tltc", "rltc"), version: fc.integer({ min: 0, max: 16 }) })
  .chain(({ hrp, version }) => {
    const lengths = version === 0 ? fc.constantFrom(20, 32) : fc.integer({ min: 2, max: 40 });
    const bytes = lengths.chain((length) => fc.uint8Array({ minLength: length, maxLength: length }));
    return bytes.map((program) => ({ hrp, version, program }));
  });

describe("a witness program", () => {
  test("is the same after encoding and decoding", () => {
    fc.assert(
      fc.property(programs, (program) => {
        const text = encodeSegwit(program);
        expect(decodeSegwit(text)).toEqual({ ok: true, value: program });
        expect(decodeSegwit(text.toUpperCase())).toEqual({ ok: true, value: program });
      }),
      { numRuns: RUNS },
    );
  });

  test("is refused when any one character of its text is changed", () => {
    const mutated = programs.map(encodeSegwit).chain((text) => mutationOf(text, BECH32, text.indexOf("1") + 1));
    fc.assert(
      fc.property(mutated, (text) => {
        expect(decodeSegwit(text).ok).toBe(false);
      }),
      { numRuns: RUNS },
    );
  });
});
