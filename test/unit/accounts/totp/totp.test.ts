import fc from "fast-check";
import { HOTP, Secret, TOTP, URI } from "otpauth";
import { describe, expect, it } from "vitest";
import { acceptedStep, otpauthUri, TOTP_STEP_MS, totpSecretOf } from "../../../../src/accounts/totp/totp.ts";
import { RUNS } from "../../../support/property-runs.ts";

/** RFC 6238, Appendix B: the ASCII secret "12345678901234567890" with SHA-1; the six digits are the last of the eight shown there. */
const RFC_SECRET = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
const RFC_VECTORS = [
  [59, "94287082", 0x1],
  [1111111109, "07081804", 0x23523ec],
  [1111111111, "14050471", 0x23523ed],
  [1234567890, "89005924", 0x273ef07],
  [2000000000, "69279037", 0x3f940aa],
  [20000000000, "65353130", 0x27bc86aa],
] as const;

/** Computed by the library's other build, which has its own implementation of the hash. */
const codeAt = (secret: string, counter: number) => HOTP.generate({ secret: Secret.fromBase32(secret), counter });

const secrets = fc.uint8Array({ minLength: 20, maxLength: 20 }).map(totpSecretOf);
const steps = fc.integer({ min: 2, max: 200_000_000 });
const insideStep = fc.integer({ min: 0, max: TOTP_STEP_MS - 1 });

describe("a code from an authenticator app", () => {
  it.each(RFC_VECTORS)("equals the test vector of RFC 6238 at second %i", (seconds, eightDigits, step) => {
    const code = eightDigits.slice(2);
    expect(acceptedStep({ secret: RFC_SECRET, code, nowMs: seconds * 1_000, lastStep: null })).toBe(step);
  });

  it.each([
    ["two steps ago", -2, false],
    ["one step ago", -1, true],
    ["the current step", 0, true],
    ["one step ahead", 1, true],
    ["two steps ahead", 2, false],
  ])("for %s (%i) is accepted: %s", (_, away, isAccepted) => {
    const step = 60_000_000;
    const code = codeAt(RFC_SECRET, step + away);
    for (const ms of [0, 1, TOTP_STEP_MS - 1]) {
      const accepted = acceptedStep({ secret: RFC_SECRET, code, nowMs: step * TOTP_STEP_MS + ms, lastStep: null });
      expect(accepted).toBe(isAccepted ? step + away : undefined);
    }
  });

  it.each(["", "12345", "1234567", "12345a", "１２３４５６", " 12345", "-12345", "123 456"])(
    "is six ASCII digits, not %j",
    (code) => {
      expect(acceptedStep({ secret: RFC_SECRET, code, nowMs: 59_000, lastStep: null })).toBeUndefined();
    },
  );

  it("works once within its window, and no older code works after it", () => {
    fc.assert(
      fc.property(secrets, steps, insideStep, fc.integer({ min: -1, max: 1 }), (secret, step, ms, away) => {
        const nowMs = step * TOTP_STEP_MS + ms;
        const code = codeAt(secret, step + away);
        const accepted = acceptedStep({ secret, code, nowMs, lastStep: null });
        expect(accepted).toBeGreaterThanOrEqual(step + away);
        const lastStep = accepted ?? Number.NaN;
        for (let later = -1; later <= 2; later++) {
          const again = { secret, code, nowMs: nowMs + later * TOTP_STEP_MS, lastStep };
          const used = acceptedStep(again);
          // A later step may have the same code by chance.
          if (used !== undefined) expect([used > lastStep, codeAt(secret, used)]).toEqual([true, code]);
        }
        for (let older = lastStep; older >= step - 1; older--) {
          const olderCode = codeAt(secret, older);
          const used = acceptedStep({ secret, code: olderCode, nowMs, lastStep });
          if (used !== undefined) expect(used).toBeGreaterThan(lastStep);
        }
      }),
      { numRuns: RUNS / 5 },
    );
  });

  it("is used up for both steps if it belongs to two adjacent steps", () => {
    const [step, code] = [910_737, "911617"];
    expect([codeAt(RFC_SECRET, step), codeAt(RFC_SECRET, step + 1)]).toEqual([code, code]);
    const given = { secret: RFC_SECRET, code, nowMs: step * TOTP_STEP_MS };
    expect(acceptedStep({ ...given, lastStep: null })).toBe(step + 1);
    expect(acceptedStep({ ...given, lastStep: step + 1 })).toBeUndefined();
  });

  it("works at the very first step, which has no step before it", () => {
    expect(acceptedStep({ secret: RFC_SECRET, code: codeAt(RFC_SECRET, 0), nowMs: 0, lastStep: null })).toBe(0);
    expect(acceptedStep({ secret: RFC_SECRET, code: codeAt(RFC_SECRET, 2), nowMs: 0, lastStep: null })).toBeUndefined();
  });
});

describe("a TOTP secret", () => {
  it("is 160 bits in base32 without padding", () => {
    expect(totpSecretOf(new TextEncoder().encode("12345678901234567890"))).toBe(RFC_SECRET);
    expect(() => totpSecretOf(new Uint8Array(16))).toThrow("20 bytes");
  });

  it("reaches an app unchanged through its URI, for any email address", () => {
    fc.assert(
      fc.property(secrets, fc.emailAddress(), (secret, email) => {
        const read = URI.parse(otpauthUri({ secret, email }));
        if (!(read instanceof TOTP)) throw new Error("not a TOTP");
        const { issuer, label, algorithm, digits, period } = read;
        expect({ secret: read.secret.base32, issuer, label, algorithm, digits, period }).toEqual({
          secret,
          issuer: "Edgetill",
          label: email,
          algorithm: "SHA1",
          digits: 6,
          period: 30,
        });
      }),
      { numRuns: RUNS / 10 },
    );
  });
});
