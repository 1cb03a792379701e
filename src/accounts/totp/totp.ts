// Codes of authenticator apps (RFC 6238 with the values that every app supports: SHA-1, 6 digits, steps of 30 s).
import { hmac } from "@noble/hashes/hmac.js";
import { sha1 } from "@noble/hashes/legacy.js";
import { base32nopad } from "@scure/base";
import { HOTP, Secret, TOTP } from "otpauth/bare";
import { SECOND_MS } from "../../lib/time.ts";

/** RFC 4226, 4 R6: 160 bits are recommended. */
export const TOTP_SECRET_BYTES = 20;
export const TOTP_STEP_MS = 30 * SECOND_MS;
const DIGITS = 6;
const ISSUER = "Edgetill";

/** The secret in RFC 4648 base32 without padding, as users type it into an app. */
export function totpSecretOf(random: Uint8Array): string {
  if (random.length !== TOTP_SECRET_BYTES)
    throw new Error(`a TOTP secret has ${TOTP_SECRET_BYTES} bytes, got ${random.length}`);
  return base32nopad.encode(random);
}

/** The URI that an app reads from a QR code. */
export function otpauthUri(of: { readonly secret: string; readonly email: string }): string {
  const { secret, email } = of;
  return new TOTP({
    issuer: ISSUER,
    label: email,
    secret,
    digits: DIGITS,
    period: TOTP_STEP_MS / SECOND_MS,
  }).toString();
}

/**
 * The step of this code: the current step, or one before or after it. Undefined if no step matches, or if it is not after `lastStep`, the last
 * accepted one, because a code works only once. If two steps have the same code, the later one is returned, so that the code is used up for both.
 */
export function acceptedStep(of: {
  readonly secret: string;
  readonly code: string;
  readonly nowMs: number;
  readonly lastStep: number | null;
}): number | undefined {
  const { code, lastStep } = of;
  if (!/^\d{6}$/.test(code)) return undefined;
  const secret = Secret.fromBase32(of.secret);
  const present = Math.floor(of.nowMs / TOTP_STEP_MS);
  return [present + 1, present, present - 1]
    .filter((step) => step >= 0 && (lastStep === null || step > lastStep))
    .find((step) => isCodeOf(secret, step, code));
}

/** The library compares in constant time. */
function isCodeOf(secret: Secret, counter: number, token: string): boolean {
  return HOTP.validate({ token, secret, counter, window: 0, digits: DIGITS, hmac: hmacSha1 }) !== null;
}

function hmacSha1(_: string, key: Uint8Array, message: Uint8Array): Uint8Array {
  return hmac(sha1, key, message);
}
