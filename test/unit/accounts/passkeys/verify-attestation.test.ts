// For each step of WebAuthn level 3, 7.1, there is a fault that only this step detects.
import { base64urlnopad } from "@scure/base";
import { verifyRegistrationResponse } from "@simplewebauthn/server";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { clientDataIn } from "../../../../src/accounts/passkeys/client-data.ts";
import { ALGORITHMS, type Attestation } from "../../../../src/accounts/passkeys/credential.ts";
import { type MadeCredential, madeCredentialOf } from "../../../../src/accounts/passkeys/verify-attestation.ts";
import { hexToBytes, utf8ToBytes } from "../../../../src/lib/bytes.ts";
import { RUNS } from "../../../support/property-runs.ts";
import { cbor, type Faults, softwareAuthenticator } from "../../../support/software-authenticator.ts";

const RELYING_PARTY = { id: "localhost", origin: "http://localhost:8787" };
const OPTIONS = { challenge: "Y2hhbGxlbmdl", user: { id: "dXNy" } };
const EXTENSIONS = new Map<string, unknown>([
  ["credProtect", 2],
  ["hmac-secret", true],
]);

async function judged(answer: unknown): Promise<MadeCredential | undefined> {
  const credential = attestationOf(answer);
  const client = clientDataIn(credential.response.clientDataJSON);
  return client === undefined ? undefined : madeCredentialOf(credential, client, RELYING_PARTY);
}

/** The type has only the members that are read; a browser's `toJSON()` returns more. */
function attestationOf(answer: unknown): Attestation {
  return answer as Attestation;
}

/** The full library's result for the same answer. The Worker's bundle omits the packages with which the library reads certificates. */
async function judgedByLibrary(answer: Awaited<ReturnType<Authenticator["create"]>>) {
  try {
    const { verified, registrationInfo: info } = await verifyRegistrationResponse({
      response: answer,
      expectedChallenge: OPTIONS.challenge,
      expectedOrigin: RELYING_PARTY.origin,
      expectedRPID: RELYING_PARTY.id,
      requireUserVerification: true,
      supportedAlgorithmIDs: [...ALGORITHMS],
    });
    if (!verified || info.fmt !== "none" || info.credential.id !== answer.id) return undefined;
    const { id, publicKey, counter } = info.credential;
    const isBackedUp = info.credentialBackedUp;
    return { credentialId: id, publicKey: base64urlnopad.encode(publicKey), counter, isBackedUp };
  } catch {
    return undefined;
  }
}
type Authenticator = Awaited<ReturnType<typeof softwareAuthenticator>>;

describe("a correct new credential", () => {
  test.each<[string, Parameters<typeof softwareAuthenticator>[0]]>([
    ["with an ES256 key", { algorithm: "ES256" }],
    ["with an EdDSA key", { algorithm: "EdDSA" }],
    ["with an RS256 key", { algorithm: "RS256" }],
    ["that is backed up", { counter: 0 }],
    ["with the longest id", { idBytes: 1_023 }],
    ["with extensions", { extensions: EXTENSIONS }],
  ])("%s is accepted, with the same result as the library's", async (_, of) => {
    const authenticator = await softwareAuthenticator(of);
    const answer = await authenticator.create(OPTIONS);
    const made = await judged(answer);
    expect(made).toMatchObject({
      credentialId: authenticator.credentialId,
      counter: of?.counter ?? 1,
      isBackedUp: of?.counter === 0,
    });
    expect(made).toEqual(await judgedByLibrary(answer));
  });

  test("that could be backed up, but is not, counts as not backed up", async () => {
    const answer = await (await softwareAuthenticator()).create(OPTIONS, { flags: 0b0000_1000 });
    expect((await judged(answer))?.isBackedUp).toBe(false);
  });
});

const none = (attStmt: unknown): Faults => ({ attestationMembers: new Map([["attStmt", attStmt]]) });
const FAULTS: readonly [string, Faults][] = [
  ["an assertion's type", { type: "webauthn.get" }],
  ["crossOrigin true, as in a frame of another origin", { crossOrigin: true }],
  ["a topOrigin", { clientData: { topOrigin: "https://example.com" } }],
  ["a token binding", { clientData: { tokenBinding: { status: "present", id: "AAAA" } } }],
  ["a different origin", { origin: "http://localhost:8788" }],
  ["an origin that only begins like ours", { origin: "http://localhost:8787.example.com" }],
  ["a different RP id", { rpId: "example.com" }],
  ["no user presence", { isUserPresent: false }],
  ["no user verification", { isUserVerified: false }],
  ["a backup flag on a passkey that cannot be backed up", { flags: 0b0001_0000 }],
  ["an algorithm that was not offered", { key: new Map([[3, -35]]) }],
  ["no algorithm", { key: new Map([[3, undefined]]) }],
  ["a statement of a different format", { attestation: "packed" }],
  ["a statement of an unknown format", { attestation: "unknown" }],
  ["another format's name on an empty statement", { attestationMembers: new Map([["fmt", "packed"]]) }],
  ["no format", { attestationMembers: new Map([["fmt", undefined]]) }],
  ["a statement in the format none", none(new Map([["alg", -7]]))],
  ["a list as its statement", none([])],
  ["a text as its statement", none("")],
  ["no statement", none(undefined)],
  ["authenticator data that is a text", { attestationMembers: new Map([["authData", "AAAA"]]) }],
  ["no authenticator data", { attestationMembers: new Map([["authData", undefined]]) }],
  ["credential data but no flag for it", { flags: 0b0100_0000 }],
  [
    "the flag for credential data but no such data",
    { authenticatorData: (data) => data.map((byte, i) => (i === 32 ? 5 : byte)).subarray(0, 37) },
  ],
  ["an extension flag without extensions", { flags: 0b1000_0000 }],
  ["extensions that are not a map", { flags: 0b1000_0000, authenticatorData: (data) => new Uint8Array([...data, 0]) }],
  ["a byte after the authenticator data", { authenticatorData: (data) => new Uint8Array([...data, 0]) }],
  ["authenticator data that is cut short", { authenticatorData: (data) => data.subarray(0, -1) }],
  ["authenticator data of 36 bytes", { authenticatorData: (data) => data.subarray(0, 36) }],
  ["a byte after the attestation object", { attestationObject: (object) => new Uint8Array([...object, 0]) }],
  ["an attestation object that is cut short", { attestationObject: (object) => object.subarray(0, -1) }],
  ["an attestation object that is a list", { attestationObject: () => cbor([]) }],
  ["another credential's id", { id: "AAAA" }],
  ["another credential's raw id", { rawId: "AAAA" }],
];

test.each(FAULTS)("a credential with %s is refused", async (_, faults) => {
  expect(await judged(await (await softwareAuthenticator()).create(OPTIONS, faults))).toBeUndefined();
});

test("a credential with an id of 1,024 bytes is refused", async () => {
  expect(await judged(await (await softwareAuthenticator({ idBytes: 1_024 })).create(OPTIONS))).toBeUndefined();
});

test("a credential with its own raw id but another credential's id is refused", async () => {
  const authenticator = await softwareAuthenticator();
  const answer = await authenticator.create(OPTIONS, { id: "AAAA", rawId: authenticator.credentialId });
  expect(await judged(answer)).toBeUndefined();
});

test("authenticator data encoded as a list of numbers is refused", async () => {
  const listed = (object: Uint8Array) => {
    const members: [string, unknown][] = [
      ["fmt", "none"],
      ["attStmt", new Map()],
      // The length of the authenticator data: 37 bytes of header, 18 before the id, 32 for the id, 77 for the key.
      ["authData", [...object.subarray(-164)]],
    ];
    return cbor(new Map(members));
  };
  const authenticator = await softwareAuthenticator();
  expect(await judged(await authenticator.create(OPTIONS))).toBeDefined();
  expect(await judged(await authenticator.create(OPTIONS, { attestationObject: listed }))).toBeUndefined();
});

test.each(["AAAA", "A", "é"])("the attestation object %j is refused", async (attestationObject) => {
  const answer = await (await softwareAuthenticator()).create(OPTIONS);
  expect(await judged({ ...answer, response: { ...answer.response, attestationObject } })).toBeUndefined();
});

describe("the bytes of an attestation", () => {
  test("with any one byte changed are accepted only if the library accepts them, with the same result", async () => {
    const authenticators = await Promise.all([
      softwareAuthenticator({ algorithm: "ES256", extensions: EXTENSIONS }),
      softwareAuthenticator({ algorithm: "EdDSA", counter: 0 }),
      softwareAuthenticator({ algorithm: "RS256" }),
    ]);
    let accepted = 0;
    const change = fc.record({
      which: fc.nat(authenticators.length - 1),
      inside: fc.boolean(),
      at: fc.nat(600),
      to: fc.integer({ min: 1, max: 255 }),
    });
    await fc.assert(
      fc.asyncProperty(change, async ({ which, inside, at, to }) => {
        const altered = (bytes: Uint8Array) => bytes.map((byte, i) => (i === at % bytes.length ? byte ^ to : byte));
        const answer = await authenticators[which]?.create(
          OPTIONS,
          inside ? { authenticatorData: altered } : { attestationObject: altered },
        );
        if (answer === undefined) throw new Error("no such authenticator");
        const made = await judged(answer);
        if (made === undefined) return;
        accepted += 1;
        expect(made).toEqual(await judgedByLibrary(answer));
      }),
      { numRuns: RUNS },
    );
    expect(accepted).toBeGreaterThan(0);
  });

  test("packed by hand from the specification are accepted for their own site and refused for another", async () => {
    // Packed by hand from the layout in section 6.1, so that the test does not depend on the test authenticator alone.
    const authData = hexToBytes(
      `49960de5880e8c687434170f6476605b8fe4aeb9a28632c7995cf3ba831d9763${"45"}${"00000007"}${"00".repeat(16)}0010${"ab".repeat(16)}` +
        `a5010203262001215820${"11".repeat(32)}225820${"22".repeat(32)}`,
    );
    const object = hexToBytes(
      `a363666d74646e6f6e656761747453746d74a068617574684461746158${authData.length.toString(16)}${Buffer.from(authData).toString("hex")}`,
    );
    const id = base64urlnopad.encode(new Uint8Array(16).fill(0xab));
    const client = { type: "webauthn.create", challenge: "", origin: RELYING_PARTY.origin };
    const clientDataJSON = base64urlnopad.encode(utf8ToBytes(JSON.stringify(client)));
    const response = { clientDataJSON, attestationObject: base64urlnopad.encode(object) };
    const credential = { id, rawId: id, type: "public-key", response } as const;
    expect(await madeCredentialOf(credential, client, RELYING_PARTY)).toEqual({
      credentialId: id,
      publicKey: base64urlnopad.encode(authData.subarray(-77)),
      counter: 7,
      isBackedUp: false,
    });
    expect(await madeCredentialOf(credential, client, { ...RELYING_PARTY, id: "example.com" })).toBeUndefined();
  });
});
