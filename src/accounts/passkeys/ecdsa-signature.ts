// The DER encoding of an ECDSA signature over P-256, as authenticators send it (WebAuthn "Signature Formats for Packed Attestation, FIDO U2F
// Attestation, and Assertion Signatures"; RFC 3279 2.2.3 "Ecdsa-Sig-Value"):
//   30 len  02 len r  02 len s

const SEQUENCE = 0x30;
const INTEGER = 0x02;
/**
 * From this value on, DER encodes a length in more than one byte. That never happens here: two 33-byte integers with their headers take only 70
 * bytes.
 */
const LONG_FORM = 0x80;

interface EcdsaSignature {
  /** Big-endian, with a leading zero byte if the highest bit is set. */
  readonly r: Uint8Array;
  readonly s: Uint8Array;
}

/** Undefined unless the bytes are exactly one signature in DER. Other encodings of the same numbers and trailing bytes are refused. */
export function ecdsaSignatureOf(der: Uint8Array): EcdsaSignature | undefined {
  if (der[0] !== SEQUENCE || der[1] !== der.length - 2 || der[1] >= LONG_FORM) return undefined;
  const r = integerAt(der, 2);
  if (r === undefined) return undefined;
  const s = integerAt(der, 4 + r.length);
  if (s === undefined || 6 + r.length + s.length !== der.length) return undefined;
  return { r, s };
}

function integerAt(der: Uint8Array, at: number): Uint8Array | undefined {
  const length = der[at + 1] ?? 0;
  const bytes = der.subarray(at + 2, at + 2 + length);
  const [first, second = 0] = bytes;
  if (der[at] !== INTEGER || first === undefined || bytes.length !== length) return undefined;
  const isNegative = first >= 0x80;
  const isPadded = first === 0 && bytes.length > 1 && second < 0x80;
  return isNegative || isPadded ? undefined : bytes;
}
