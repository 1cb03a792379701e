// The recovery export's output descriptor (BIP380): what wallet software imports to watch and spend the addresses of an account without us.
import type { Network } from "../../chains/registry/networks.ts";
import { accountNode, type ExtendedKey, XPUB_VERSION } from "./extended-key.ts";

/** Three groups of 32: the position inside a group is one symbol, the group numbers of three characters make another (BIP380). */
const INPUT = "0123456789()[],'/*abcdefgh@:$%{}IJKLMNOPQRSTUVWXYZ&+-.;<=>?!^_|~ijklmnopqrstuvwxyzABCDEFGH`#\"\\ ";
const OUTPUT = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
const GENERATOR: readonly bigint[] = [0xf5dee51989n, 0xa9fdca3312n, 0x1bab10e32dn, 0x3706b1677an, 0x644d626ffdn];

/** The version bytes of a tpub. Descriptors contain only xpub and tpub keys: the script function around the key replaces ypub and zpub. */
const TPUB_VERSION = 0x043587cf;

/**
 * The descriptor of all receiving addresses of an account, `<account>/0/*`, with its checksum: `pkh(...)`, `sh(wpkh(...))` or `wpkh(...)`.
 * It has no key origin, because an account key does not contain its master's fingerprint.
 */
export function receiveDescriptor(key: ExtendedKey, network: Network): string {
  const { publicExtendedKey } = accountNode(key, network.isTest ? TPUB_VERSION : XPUB_VERSION);
  const descriptor = scriptOf(key, `${publicExtendedKey}/0/*`);
  return `${descriptor}#${descriptorChecksum(descriptor)}`;
}

/** BIP380 "Checksum": a BCH code over the descriptor's characters, eight characters long. */
export function descriptorChecksum(descriptor: string): string {
  let state = 1n;
  for (const symbol of [...symbolsOf(descriptor), 0, 0, 0, 0, 0, 0, 0, 0]) state = nextState(state, symbol);
  state ^= 1n;
  let text = "";
  for (let shift = 35n; shift >= 0n; shift -= 5n) text += OUTPUT.charAt(Number((state >> shift) & 31n));
  return text;
}

function scriptOf(key: ExtendedKey, keyExpression: string): string {
  switch (key.scheme) {
    case "BIP44":
      return `pkh(${keyExpression})`;
    case "BIP49":
      return `sh(wpkh(${keyExpression}))`;
    case "BIP84":
      return `wpkh(${keyExpression})`;
  }
}

function symbolsOf(descriptor: string): number[] {
  const symbols: number[] = [];
  let groups: number[] = [];
  for (const character of descriptor) {
    const position = INPUT.indexOf(character);
    if (position < 0) throw new Error("a descriptor contains a character outside its character set");
    symbols.push(position & 31);
    groups.push(position >> 5);
    if (groups.length === 3) {
      symbols.push(inBaseThree(groups));
      groups = [];
    }
  }
  if (groups.length > 0) symbols.push(inBaseThree(groups));
  return symbols;
}

function inBaseThree(digits: readonly number[]): number {
  return digits.reduce((sum, digit) => sum * 3 + digit, 0);
}

function nextState(state: bigint, symbol: number): bigint {
  const top = state >> 35n;
  let next = ((state & 0x7ffffffffn) << 5n) ^ BigInt(symbol);
  GENERATOR.forEach((generator, bit) => {
    if (((top >> BigInt(bit)) & 1n) === 1n) next ^= generator;
  });
  return next;
}
