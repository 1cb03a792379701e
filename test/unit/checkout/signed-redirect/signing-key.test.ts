import { describe, expect, it } from "vitest";
import { listPublicKeys } from "../../../../src/checkout/signed-redirect/sign-return.ts";
import { pkcs8Of, signingKeysOf } from "../../../../src/checkout/signed-redirect/signing-key.ts";

const base64 = (hex: string) => Buffer.from(hex, "hex").toString("base64");

/** RFC 8032 7.1, tests 1 to 3: seed, public key, message, signature. */
const VECTORS = [
  [
    "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
    "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
    "",
    "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
  ],
  [
    "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
    "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
    "72",
    "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
  ],
  [
    "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
    "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
    "af82",
    "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
  ],
] as const;

describe("a seed", () => {
  it.each(VECTORS)(
    "%s has the public key and the signature of RFC 8032 7.1",
    async (seed, publicKey, message, wanted) => {
      const signingKeys = signingKeysOf({ SIGNING_KEY: `k1:${base64(seed)}` });
      expect(await listPublicKeys({ signingKeys })).toEqual([
        {
          kty: "OKP",
          crv: "Ed25519",
          kid: "k1",
          x: Buffer.from(publicKey, "hex").toString("base64url"),
          use: "sig",
          alg: "EdDSA",
        },
      ]);
      const key = await crypto.subtle.importKey("pkcs8", pkcs8Of(Buffer.from(seed, "hex")), "Ed25519", false, ["sign"]);
      const signature = await crypto.subtle.sign("Ed25519", key, Buffer.from(message, "hex"));
      expect(Buffer.from(signature).toString("hex")).toBe(wanted);
    },
  );
});

describe("SIGNING_KEY", () => {
  const [[one], [two]] = VECTORS;

  it("holds several keys, the newest first, and publishes only their public halves", async () => {
    const signingKeys = signingKeysOf({ SIGNING_KEY: `k2:${base64(two)}, k1:${base64(one)}` });
    const shown = await listPublicKeys({ signingKeys });
    expect(shown.map(({ kid }) => kid)).toEqual(["k2", "k1"]);
    expect(new Set(shown.flatMap((key) => Object.keys(key)))).toEqual(
      new Set(["kty", "crv", "kid", "x", "use", "alg"]),
    );
  });

  it.each([
    ["no value", undefined],
    ["an empty text", ""],
    ["a key without an id", base64(one)],
    ["a seed that is too short", `k1:${base64(one.slice(2))}`],
    ["a seed that is too long", `k1:${base64(`${one}00`)}`],
    ["one valid and one invalid key", `k1:${base64(one)},k2:hunter2`],
    ["one id for two keys", `k1:${base64(one)},k1:${base64(two)}`],
  ])("is refused with %s, and the error does not show the value", async (_, text) => {
    const signingKeys = signingKeysOf({ SIGNING_KEY: text });
    expect(signingKeys).toEqual({ ok: false, error: expect.stringMatching(/^SIGNING_KEY (must be|has) [^=]*$/) });
    expect(JSON.stringify(signingKeys)).not.toContain("hunter2");
    expect(await listPublicKeys({ signingKeys })).toEqual([]);
  });
});
