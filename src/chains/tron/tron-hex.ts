// Converts between TRON's notations. Wallets and explorers write accounts as base58check of 0x41 and 20 bytes, and hashes without 0x. The
// JSON-RPC writes accounts as 0x and 20 bytes, the HTTP API as 41 and 20 bytes, and logs as 20 bytes.
import { bytesToHex, hexToBytes } from "../../lib/bytes.ts";
import { decodeBase58check, encodeBase58check } from "../encodings/address-text.ts";

const ACCOUNT = /^(?:0x|41)?([0-9a-fA-F]{40})$/;

/** The address of an account in any hexadecimal form; undefined if the text is not an account. */
export function addressOfHex(hex: string): string | undefined {
  const account = ACCOUNT.exec(hex)?.[1];
  return account === undefined ? undefined : encodeBase58check(hexToBytes(`41${account.toLowerCase()}`));
}

/** The 20 bytes of an address, 40 lower-case digits; undefined if it is not a TRON address. */
export function hexOfAddress(address: string): string | undefined {
  const payload = decodeBase58check(address);
  return payload?.length === 21 && payload[0] === 0x41 ? bytesToHex(payload.subarray(1)) : undefined;
}

/** 64 lower-case digits, as explorers show hashes of blocks and transactions; undefined if the text is not a hash. */
export function bareHash(text: string): string | undefined {
  return /^(?:0x)?([0-9a-f]{64})$/.exec(text.toLowerCase())?.[1];
}
