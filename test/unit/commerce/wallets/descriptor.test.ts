import { describe, expect, test } from "vitest";
import type { NetworkName } from "../../../../src/chains/registry/networks.ts";
import { descriptorChecksum, receiveDescriptor } from "../../../../src/commerce/wallets/descriptor.ts";
import { parseExtendedKey } from "../../../../src/commerce/wallets/extended-key.ts";
import { network } from "../../../support/named-network.ts";
import accountKeys from "../../../vectors/account-keys.json" with { type: "json" };
import bip380 from "../../../vectors/bip380.json" with { type: "json" };

function descriptorOf(name: NetworkName, xpub: string, derivationPath: string): string {
  const parsed = parseExtendedKey({ network: network(name), xpub, derivationPath });
  if (!parsed.ok) throw new Error(parsed.error.reason);
  return receiveDescriptor(parsed.value, network(name));
}

describe("a descriptor's checksum", () => {
  test.each(bip380.checksums)("of %s is %s", (descriptor = "", checksum) => {
    expect(descriptorChecksum(descriptor)).toBe(checksum);
  });

  test("changes when any character changes", () => {
    const checksums = ["raw(deadbeef)", "raw(deedbeef)", "raw(deadbeeF)", "raw(deadbee)", "Raw(deadbeef)", ""];
    expect(new Set(checksums.map(descriptorChecksum)).size).toBe(checksums.length);
  });

  test("cannot be computed for text with a character outside BIP380's set", () => {
    expect(() => descriptorChecksum("raw(Ü)")).toThrow(/outside its character set/);
  });
});

describe("the descriptor of an account", () => {
  const [bip44, bip49, bip84, testnet] = accountKeys.accounts.map(({ network: name, xpub, derivationPath }) =>
    descriptorOf(name as NetworkName, xpub, derivationPath),
  );

  test("wraps the key in the script of its prefix, with the version bytes of BIP32", () => {
    expect(bip44).toMatch(/^pkh\(xpub6Bosf[1-9A-HJ-NP-Za-km-z]{102}\/0\/\*\)#[a-z0-9]{8}$/);
    expect(bip44).toContain(accountKeys.accounts[0]?.xpub);
    expect(bip49).toMatch(/^sh\(wpkh\(xpub6[1-9A-HJ-NP-Za-km-z]{106}\/0\/\*\)\)#/);
    // Other descriptor software prints this xpub form of BIP84's zpub, with this checksum.
    expect(bip84).toBe(
      "wpkh(xpub6CatWdiZiodmUeTDp8LT5or8nmbKNcuyvz7WyksVFkKB4RHwCD3XyuvPEbvqAQY3rAPshWcMLoP2fMFMKHPJ4ZeZXYVUhLv1VMrjPC7PW6V/0/*)#kj7aqcx6",
    );
    expect(testnet).toMatch(/^sh\(wpkh\(tpub[1-9A-HJ-NP-Za-km-z]{107}\/0\/\*\)\)#[a-z0-9]{8}$/);
  });
});
