import { describe, expect, test } from "vitest";
import { workerAliases } from "../../../scripts/worker-aliases.ts";
import { hexToBytes } from "../../../src/lib/bytes.ts";
import { AsnParser, Certificate, ECDSASigValue, X509Certificate } from "../../../src/passkeys/no-attestation.ts";

describe("what stands in for the packages of certificates", () => {
  test("reads the signature of an assertion", () => {
    const read = AsnParser.parse(hexToBytes("3006020101020102"), ECDSASigValue);
    expect(read).toEqual({ r: new Uint8Array([1]), s: new Uint8Array([2]) });
    expect(() => AsnParser.parse(hexToBytes("300602010102010200"), ECDSASigValue)).toThrow("not an ECDSA signature");
  });

  test("refuses every certificate", () => {
    expect(() => AsnParser.parse(hexToBytes("3006020101020102"), Certificate)).toThrow("attestation is not supported");
    expect(() => new X509Certificate()).toThrow("attestation is not supported");
  });

  test("is what wrangler.toml puts in their place, and all of them", () => {
    const aliases = workerAliases();
    expect(Object.keys(aliases).sort()).toEqual([
      "@peculiar/asn1-android",
      "@peculiar/asn1-ecc",
      "@peculiar/asn1-rsa",
      "@peculiar/asn1-schema",
      "@peculiar/asn1-x509",
      "@peculiar/asn1-x509-post-quantum",
      "@peculiar/x509",
      "reflect-metadata",
    ]);
    for (const path of Object.values(aliases)) expect(path).toMatch(/\/src\/passkeys\/no-attestation\.ts$/);
  });
});
