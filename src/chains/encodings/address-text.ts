// Recognises texts that were entered instead of an address, so that a refusal can name the mistake (decisions 3). A reason never repeats the text:
// it may be a secret in an unexpected form.
import { sha256 } from "@noble/hashes/sha2.js";
import { createBase58check } from "@scure/base";
import { decodeSegwit } from "./segwit.ts";

const codec = createBase58check(sha256);

/** Longer texts are not examined. The longest accepted address has 64 characters, an extended key 111. */
const MAX_LENGTH = 130;

/** Base58 of the payload followed by the first four bytes of its double SHA-256. */
export function encodeBase58check(payload: Uint8Array): string {
  return codec.encode(payload);
}

/** The payload; undefined if the text is too long, has an invalid character, or has a wrong checksum. */
export function decodeBase58check(text: string): Uint8Array | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  try {
    return codec.decode(text);
  } catch {
    return undefined;
  }
}

/** Trims ASCII white space only: a no-break space copied with an address is a mistake that the user should see. */
export function trimSpaces(text: string): string {
  return text.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, "");
}

/** Version bytes of 21-byte base58check payloads; several chains may use the same byte. */
const VERSIONS: Readonly<Record<number, string>> = {
  0: "this is a Bitcoin address",
  5: "this is a Bitcoin address",
  22: "this is a Dogecoin address",
  30: "this is a Dogecoin address",
  48: "this is a Litecoin address",
  50: "this is a Litecoin address",
  58: "this is a Litecoin testnet address",
  65: "this is a TRON address",
  76: "this is a Dash address",
  111: "this is a Bitcoin testnet address",
  160: "this is an address of TRON's old test network",
  196: "this is a Bitcoin testnet address",
};

/** Human-readable parts of witness addresses. */
const WITNESS_PARTS: ReadonlyMap<string, string> = new Map([
  ["bc", "a Bitcoin address"],
  ["tb", "a Bitcoin testnet address"],
  ["bcrt", "a Bitcoin regtest address"],
  ["ltc", "a Litecoin address"],
  ["tltc", "a Litecoin testnet address"],
  ["rltc", "a Litecoin regtest address"],
]);

const SHAPES: readonly (readonly [RegExp, string])[] = [
  [/^$/, "the address is empty"],
  [/^ltcmweb1/i, "this is a Litecoin MWEB address, which cannot be watched"],
  [/^tmweb1/i, "this is a Litecoin testnet MWEB address, which cannot be watched"],
  [/^t?cro1/i, "this looks like a Cronos POS address; give an address of the Cronos EVM chain"],
  [/^ln(bc|tb|bcrt|ltc)[0-9]/i, "this looks like a Lightning invoice"],
  [/^addr1/i, "this looks like a Cardano address"],
  [/^[1-9A-HJ-NP-Za-km-z]{43,44}$/, "this looks like a Solana address"],
  [/^bitcoincash:/i, "this looks like a Bitcoin Cash address"],
  [/^(bitcoin|litecoin|ethereum|tron):/i, "this is a payment link; give only the address in it"],
  [/^(0x)?41[0-9a-f]{40}$/i, "this looks like a TRON address in hexadecimal form; give the form that starts with T"],
  [/^0x[0-9a-f]{40}$/, "this looks like an EVM address"],
  [/^0x[0-9a-f]{40}$/i, "this looks like an EVM address"],
  [/^[0-9a-f]{40}$/i, "this looks like an EVM address without 0x"],
  [/^0x[0-9a-f]*$/i, "an EVM address has 40 hexadecimal digits after 0x"],
  [/^XE[0-9]{2}[0-9A-Z]{16,31}$/i, "this looks like an ICAP address; give the form that starts with 0x"],
  [/^[xyztuv]pub|^[LMt]tub/i, "this looks like an extended public key, not an address"],
  [/^\S+\.[a-z]{2,}$/i, "this looks like a name, not an address"],
];

/** What the text looks like, as a clause in lower case; undefined if it is not recognised. */
export function whatItLooksLike(text: string): string | undefined {
  const known = SHAPES.find(([shape]) => shape.test(text));
  if (known !== undefined) return known[1];
  const witness = WITNESS_PARTS.get(/^([a-z]+)1/i.exec(text)?.[1]?.toLowerCase() ?? "");
  if (witness !== undefined) return decodeSegwit(text).ok ? `this is ${witness}` : `this looks like ${witness}`;
  const payload = decodeBase58check(text);
  if (payload === undefined) {
    return /^[1-9A-HJ-NP-Za-km-z]{25,35}$/.test(text)
      ? "its checksum fails: a character is wrong or missing"
      : undefined;
  }
  return payload.length === 21 ? VERSIONS[payload[0] ?? -1] : undefined;
}
