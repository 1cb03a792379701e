// For each step of WebAuthn level 3, 7.2, there is a fault that only this step detects.
import { base64urlnopad } from "@scure/base";
import { verifyAuthenticationResponse } from "@simplewebauthn/server";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { clientDataIn } from "../../../../src/accounts/passkeys/client-data.ts";
import { provedUseOf } from "../../../../src/accounts/passkeys/verify-assertion.ts";
import { madeCredentialOf } from "../../../../src/accounts/passkeys/verify-attestation.ts";
import { RUNS } from "../../../support/property-runs.ts";
import {
  type Algorithm,
  type Authenticator,
  cbor,
  type Faults,
  softwareAuthenticator,
} from "../../../support/software-authenticator.ts";

const RELYING_PARTY = { id: "localhost", origin: "http://localhost:8787" };
const OPTIONS = { challenge: "Y2hhbGxlbmdl", user: { id: "dXNy" } };
const ALGORITHMS: readonly Algorithm[] = ["ES256", "EdDSA", "RS256"];
type Answer = Awaited<ReturnType<Authenticator["get"]>>;

/** An authenticator and the key with which it was registered. */
async function registered(of: Parameters<typeof softwareAuthenticator>[0] = {}) {
  const authenticator = await softwareAuthenticator(of);
  const answer = await authenticator.create(OPTIONS);
  const client = clientDataIn(answer.response.clientDataJSON);
  const made =
    client &&
    (await madeCredentialOf({ ...answer, type: "public-key", response: answer.response }, client, RELYING_PARTY));
  if (made === undefined) throw new Error("not registered");
  return { authenticator, publicKey: made.publicKey };
}

/** The counter and backup state if the answer passes every step and has a valid signature, otherwise undefined. */
async function judged(answer: Answer, publicKey: string) {
  const client = clientDataIn(answer.response.clientDataJSON);
  if (client === undefined) return undefined;
  return provedUseOf({ ...answer, type: "public-key", response: answer.response }, client, {
    relyingParty: RELYING_PARTY,
    publicKey,
  });
}

/** The library's result for the same answer. */
async function judgedByLibrary(answer: Answer, publicKey: string) {
  try {
    const { verified, authenticationInfo: info } = await verifyAuthenticationResponse({
      response: answer,
      expectedChallenge: OPTIONS.challenge,
      expectedOrigin: RELYING_PARTY.origin,
      expectedRPID: RELYING_PARTY.id,
      requireUserVerification: true,
      credential: { id: answer.id, publicKey: new Uint8Array(base64urlnopad.decode(publicKey)), counter: 0 },
    });
    return verified ? { counter: info.newCounter, isBackedUp: info.credentialBackedUp } : undefined;
  } catch {
    return undefined;
  }
}

describe("a correct assertion", () => {
  test.each(ALGORITHMS)("by an %s key is accepted, with the same result as the library's", async (algorithm) => {
    const { authenticator, publicKey } = await registered({
      algorithm,
      extensions: new Map([["hmac-secret", new Uint8Array(32)]]),
    });
    // Repeated, because the numbers in a signature vary in length.
    for (let counter = 2; counter < 22; counter++) {
      const answer = await authenticator.get(OPTIONS);
      const said = await judged(answer, publicKey);
      expect(said).toEqual({ counter, isBackedUp: false });
      expect(said).toEqual(await judgedByLibrary(answer, publicKey));
    }
  });

  test("by a backed-up passkey is reported as backed up, and its counter may stay 0", async () => {
    const { authenticator, publicKey } = await registered({ counter: 0 });
    expect(await judged(await authenticator.get(OPTIONS), publicKey)).toEqual({ counter: 0, isBackedUp: true });
  });
});

const lastChanged = (bytes: Uint8Array) => bytes.map((byte, i) => (i === bytes.length - 1 ? byte ^ 1 : byte));
const FAULTS: readonly [string, Faults][] = [
  ["a registration's type", { type: "webauthn.create" }],
  ["crossOrigin true, as in a frame of another origin", { crossOrigin: true }],
  ["a topOrigin", { clientData: { topOrigin: "https://example.com" } }],
  ["a token binding", { clientData: { tokenBinding: { status: "present", id: "AAAA" } } }],
  ["a different origin", { origin: "https://localhost:8787" }],
  ["an origin that only begins like ours", { origin: "http://localhost:8787.example.com" }],
  ["a different RP id", { rpId: "example.com" }],
  ["no user presence", { isUserPresent: false }],
  ["no user verification", { isUserVerified: false }],
  ["a backup flag on a passkey that cannot be backed up", { flags: 0b0001_0000 }],
  ["a different raw id", { rawId: "AAAA" }],
  ["an extension flag without extensions", { flags: 0b1000_0000 }],
  [
    "extensions that are not a map",
    { flags: 0b1000_0000, authenticatorData: (data) => new Uint8Array([...data, ...cbor(0)]) },
  ],
  ["a byte after the authenticator data", { authenticatorData: (data) => new Uint8Array([...data, 0]) }],
  ["authenticator data of 36 bytes", { authenticatorData: (data) => data.subarray(0, 36) }],
  ["an altered signature", { signature: lastChanged }],
  ["no signature", { signature: () => new Uint8Array() }],
];

describe.each(ALGORITHMS)("an assertion by an %s key", (algorithm) => {
  // Making an RSA key takes most of a second.
  let used: ReturnType<typeof registered>;
  beforeAll(() => {
    used = registered({ algorithm });
  });

  test.each(FAULTS)("with %s is refused", async (_, faults) => {
    const { authenticator, publicKey } = await used;
    expect(await judged(await authenticator.get(OPTIONS, faults), publicKey)).toBeUndefined();
  });

  test("signed with a different key is refused", async () => {
    const [mine, theirs] = [await registered({ algorithm }), await registered({ algorithm })];
    const answer = await mine.authenticator.get(OPTIONS);
    expect(await judged(answer, mine.publicKey)).toBeDefined();
    expect(await judged(answer, theirs.publicKey)).toBeUndefined();
  });

  test("with the client data or the authenticator data of another assertion is refused", async () => {
    const { authenticator, publicKey } = await used;
    const [first, second] = [await authenticator.get(OPTIONS), await authenticator.get({ challenge: "b3RoZXI" })];
    const { clientDataJSON, authenticatorData } = second.response;
    for (const part of [{ clientDataJSON }, { authenticatorData }])
      expect(await judged({ ...first, response: { ...first.response, ...part } }, publicKey)).toBeUndefined();
  });

  const change = fc.record({ at: fc.nat(300), to: fc.integer({ min: 1, max: 255 }) });
  const alter = (of: { readonly at: number; readonly to: number }) => (bytes: Uint8Array) =>
    bytes.map((byte, i) => (i === of.at % bytes.length ? byte ^ of.to : byte));

  test("over authenticator data with any byte changed is judged as the reference library judges it", async () => {
    const { authenticator, publicKey } = await used;
    await fc.assert(
      fc.asyncProperty(change, async (of) => {
        const answer = await authenticator.get(OPTIONS, { authenticatorData: alter(of) });
        expect(await judged(answer, publicKey)).toEqual(await judgedByLibrary(answer, publicKey));
      }),
      { numRuns: RUNS },
    );
  });

  test("with any byte of its signature changed is refused", async () => {
    const { authenticator, publicKey } = await used;
    const answer = await authenticator.get(OPTIONS);
    const signed = base64urlnopad.decode(answer.response.signature);
    expect(await judged(answer, publicKey)).toBeDefined();
    await fc.assert(
      fc.asyncProperty(change, async (of) => {
        const signature = base64urlnopad.encode(alter(of)(signed));
        expect(await judged({ ...answer, response: { ...answer.response, signature } }, publicKey)).toBeUndefined();
      }),
      { numRuns: RUNS },
    );
  });
});

test("a stored public key that is invalid accepts no assertion", async () => {
  const { authenticator } = await registered();
  const answer = await authenticator.get(OPTIONS);
  for (const publicKey of ["", "AAAA", base64urlnopad.encode(cbor(new Map([[3, -7]])))])
    expect(await judged(answer, publicKey)).toBeUndefined();
});
