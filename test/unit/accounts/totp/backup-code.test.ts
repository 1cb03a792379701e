import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  BACKUP_CODE_LENGTH,
  backupCodeMacText,
  backupCodeOf,
  canonicalBackupCode,
} from "../../../../src/accounts/totp/backup-code.ts";
import { RUNS } from "../../../support/property-runs.ts";

const randoms = fc.uint8Array({ minLength: BACKUP_CODE_LENGTH, maxLength: BACKUP_CODE_LENGTH });

describe("a backup code", () => {
  it("has the form XXXXX-XXXXX, with digits and letters except I, L, O and U", () => {
    fc.assert(
      fc.property(randoms, (random) => {
        expect(backupCodeOf(random)).toMatch(/^[0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{5}$/);
      }),
      { numRuns: RUNS },
    );
  });

  it("carries 50 bits: two codes are equal only if all ten bytes agree in their low five bits", () => {
    fc.assert(
      fc.property(randoms, fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 7 }), (random, at, bit) => {
        const other = random.map((byte, i) => (i === at ? byte ^ (1 << bit) : byte));
        expect(backupCodeOf(other) === backupCodeOf(random)).toBe(bit >= 5);
      }),
      { numRuns: RUNS },
    );
    expect(() => backupCodeOf(new Uint8Array(9))).toThrow("10 bytes");
  });

  it("is accepted in upper or lower case, with dashes and spaces anywhere, and with O for 0 or L for 1", () => {
    const noise = fc.array(fc.constantFrom("", "-", " ", "\t", "--", " - "), { minLength: 12, maxLength: 12 });
    fc.assert(
      fc.property(randoms, noise, fc.infiniteStream(fc.boolean()), (random, gaps, isLower) => {
        const code = backupCodeOf(random);
        const typed = [...code]
          .map((character) => {
            const mistaken = isLower.next().value ? character.replace("0", "O").replace("1", "L") : character;
            return isLower.next().value ? mistaken.toLowerCase() : mistaken;
          })
          .map((character, i) => `${gaps[i] ?? ""}${character}`)
          .join("");
        expect(canonicalBackupCode(typed)).toBe(code.replace("-", ""));
      }),
      { numRuns: RUNS },
    );
  });

  it.each(["", "ABCDE", "ABCDE-FGHJ", "ABCDE-FGHJKM", "ABCDE-FGHJU", "ABCDE_FGHJK", "ÀBCDE-FGHJK", "ABCDE-FGHJ\u0000"])(
    "cannot be %j",
    (typed) => {
      expect(canonicalBackupCode(typed)).toBeUndefined();
    },
  );

  it("is bound to its user: no two pairs of user and code have the same MAC text", () => {
    expect(backupCodeMacText("usr_a", "B")).not.toBe(backupCodeMacText("usr_a1", "B"));
    expect(backupCodeMacText("usr_a", "1B")).not.toBe(backupCodeMacText("usr_a1", "B"));
  });
});
