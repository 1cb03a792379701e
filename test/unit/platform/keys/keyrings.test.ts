import { hkdfSync } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { deriveKeyring, type Keyring } from "../../../../src/lib/keyring.ts";
import {
  KEYRING_LABELS,
  type KeyringName,
  type KeySettings,
  keyringOf,
  parseMasterKey,
} from "../../../../src/platform/keys/keyrings.ts";
import { triesOf } from "../../../support/property-runs.ts";

const NAMES = Object.keys(KEYRING_LABELS) as readonly KeyringName[];
const key = (fill: number) => Buffer.alloc(32, fill).toString("base64");
const hex = (bytes: ArrayBuffer | Uint8Array | undefined) => Buffer.from(new Uint8Array(bytes ?? [])).toString("hex");
const ring = (settings: KeySettings, name: KeyringName): Keyring => {
  const keys = keyringOf(settings, name);
  if (!keys.ok) throw new Error(keys.error);
  return keys.value;
};

describe("a derived key", () => {
  it("matches the HKDF-SHA256 test vector in RFC 5869, appendix A.3", () => {
    const [derived] = deriveKeyring([{ id: "k1", secret: new Uint8Array(22).fill(0x0b) }], "", 42);
    expect([derived.id, hex(derived.secret)]).toEqual([
      "k1",
      "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8",
    ]);
  });

  it("equals the result of another implementation, for any secret and info", () => {
    const secrets = fc.uint8Array({ minLength: 32, maxLength: 80 });
    fc.assert(
      fc.property(secrets, fc.string({ maxLength: 100 }), (secret, info) => {
        const [derived] = deriveKeyring([{ id: "k", secret }], info);
        expect(hex(derived.secret)).toBe(hex(hkdfSync("sha256", secret, "", info, 32)));
      }),
      { numRuns: triesOf({ usual: 200, deep: 20_000 }) },
    );
  });
});

describe("a deployment with a MASTER_KEY", () => {
  const MASTER_KEY = `k2:${key(2)}, k1:${key(1)}`;

  it.each([
    ["ROW_MAC_KEY", "edgetill/row-mac"],
    ["CODE_PEPPER", "edgetill/code-pepper"],
    ["SECRETS_AES_KEY", "edgetill/secrets-aes"],
    ["SIGNING_KEY", "edgetill/return-signing"],
    ["API_KEY_MAC_KEY", "edgetill/api-key-mac"],
  ] as const)("has a %s with one key for each of its key ids, derived with the info %s", (name, info) => {
    const derived = ring({ MASTER_KEY }, name).map(({ id, secret }) => [id, hex(secret)]);
    const expected = (fill: number) => hex(hkdfSync("sha256", Buffer.alloc(32, fill), "", info, 32));
    expect(derived).toEqual([
      ["k2", expected(2)],
      ["k1", expected(1)],
    ]);
  });

  it("has a different key for each label and each key id, and no key equals a master key", () => {
    const secrets = NAMES.flatMap((name) => ring({ MASTER_KEY }, name).map(({ secret }) => hex(secret)));
    const masters = [1, 2].map((fill) => hex(Buffer.alloc(32, fill)));
    expect(new Set([...secrets, ...masters]).size).toBe(2 * NAMES.length + 2);
  });

  it("derives its keys once, and again when the setting changes", () => {
    const [once] = ring({ MASTER_KEY }, "ROW_MAC_KEY");
    expect(ring({ MASTER_KEY }, "ROW_MAC_KEY")[0]).toBe(once);
    const other = ring({ MASTER_KEY: `k2:${key(3)}` }, "ROW_MAC_KEY");
    expect([other.length, hex(other[0].secret) === hex(once.secret)]).toEqual([1, false]);
    expect(ring({ MASTER_KEY }, "ROW_MAC_KEY")[0].secret).toEqual(once.secret);
  });

  it("uses a keyring that is set directly, and derives the others", () => {
    const settings = { MASTER_KEY, CODE_PEPPER: `own:${key(7)}`, SIGNING_KEY: " " };
    expect(ring(settings, "CODE_PEPPER")).toEqual([{ id: "own", secret: new Uint8Array(32).fill(7) }]);
    expect(ring(settings, "SIGNING_KEY")).toEqual(ring({ MASTER_KEY }, "SIGNING_KEY"));
    expect(keyringOf({ MASTER_KEY, CODE_PEPPER: "own:short" }, "CODE_PEPPER")).toMatchObject({ ok: false });
  });
});

describe("an invalid MASTER_KEY", () => {
  it.each(["hunter2", `k1:${btoa("hunter2")}`, `k1:${key(1)},k1:${key(2)}`])(
    "is refused without showing its value: %s",
    (text) => {
      const refused = { ok: false, error: expect.stringMatching(/^MASTER_KEY (must be|has the same key id)/) };
      expect(parseMasterKey(text)).toEqual(refused);
      for (const name of NAMES) expect(keyringOf({ MASTER_KEY: text }, name)).toEqual(refused);
      expect(JSON.stringify(parseMasterKey(text))).not.toContain("hunter2");
    },
  );

  it.each([undefined, "", " "])(
    "counts as missing if it is %j, and the error names the keyring and MASTER_KEY",
    (MASTER_KEY) => {
      const error = expect.stringMatching(/^CODE_PEPPER must be .*, or MASTER_KEY be set$/);
      expect(keyringOf({ MASTER_KEY }, "CODE_PEPPER")).toEqual({ ok: false, error });
    },
  );
});
