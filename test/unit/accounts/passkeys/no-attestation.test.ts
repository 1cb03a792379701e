import { describe, expect, test } from "vitest";
import { bundleWorker } from "../../../../bench/bundle.ts";
import { workerAliases } from "../../../../scripts/worker-aliases.ts";
import {
  AsnParser,
  Certificate,
  ECDSASigValue,
  X509Certificate,
} from "../../../../src/accounts/passkeys/no-attestation.ts";
import { hexToBytes } from "../../../../src/lib/bytes.ts";
import { softwareAuthenticator } from "../../../support/software-authenticator.ts";

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
    for (const path of Object.values(aliases)) expect(path).toMatch(/\/src\/accounts\/passkeys\/no-attestation\.ts$/);
  });

  test("lets the library, bundled as it is deployed, register a passkey and verify it, and no certificate", async () => {
    const text = 'export { verifyAuthenticationResponse, verifyRegistrationResponse } from "@simplewebauthn/server";';
    const { code } = await bundleWorker({ text });
    const url = `data:text/javascript;base64,${Buffer.from(code).toString("base64")}`;
    const library: typeof import("@simplewebauthn/server") = await import(/* @vite-ignore */ url);
    const authenticator = await softwareAuthenticator();
    const challenge = "a challenge of this test".replaceAll(" ", "_");
    const supportedAlgorithmIDs = [-7];
    const expected = {
      expectedChallenge: challenge,
      expectedOrigin: "http://localhost:8787",
      expectedRPID: "localhost",
    };
    const options = { challenge, user: { id: "dXNy" } };
    const made = await library.verifyRegistrationResponse({
      response: await authenticator.create(options),
      ...expected,
      supportedAlgorithmIDs,
    });
    if (!made.verified) throw new Error("the registration did not verify");
    const { credential } = made.registrationInfo;
    for (let i = 0; i < 20; i++) {
      const response = await authenticator.get(options);
      const used = await library.verifyAuthenticationResponse({ response, ...expected, credential });
      expect(used).toMatchObject({ verified: true, authenticationInfo: { newCounter: i + 2, userVerified: true } });
    }
    const certified = await authenticator.create(options, { attestation: "fido-u2f" });
    await expect(
      library.verifyRegistrationResponse({ response: certified, ...expected, supportedAlgorithmIDs }),
    ).rejects.toThrow();
  });
});
