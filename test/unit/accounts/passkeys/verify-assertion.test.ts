// Each step of WebAuthn level 3, 7.2 has a fault that only it refuses.
import { base64urlnopad } from "@scure/base";
import { verifyAuthenticationResponse } from "@simplewebauthn/server";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
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

/** An authenticator and the key it was registered with. */
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

/** Counter and backup of an answer that every step and the signature accept. */
async function judged(answer: Answer, publicKey: string) {
  const client = clientDataIn(answer.response.clientDataJSON);
  if (client === undefined) return undefined;
  return provedUseOf({ ...answer, type: "public-key", response: answer.response }, client, {
    relyingParty: RELYING_PARTY,
    publicKey,
  });
}

/** What the library says of the same answer. */
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

describe("an answer that was made as it was asked for", () => {
  test.each(ALGORITHMS)("by a key of %s is accepted, and says the same as to the library", async (algorithm) => {
    const { authenticator, publicKey } = await registered({
      algorithm,
      extensions: new Map([["hmac-secret", new Uint8Array(32)]]),
    });
    // Many, since the numbers in a signature are of several lengths.
    for (let counter = 2; counter < 22; counter++) {
      const answer = await authenticator.get(OPTIONS);
      const said = await judged(answer, publicKey);
      expect(said).toEqual({ counter, isBackedUp: false });
      expect(said).toEqual(await judgedByLibrary(answer, publicKey));
    }
  });

  test("by a passkey that is backed up says so, and may never count", async () => {
    const { authenticator, publicKey } = await registered({ counter: 0 });
    expect(await judged(await authenticator.get(OPTIONS), publicKey)).toEqual({ counter: 0, isBackedUp: true });
  });
});

const lastChanged = (bytes: Uint8Array) => bytes.map((byte, i) => (i === bytes.length - 1 ? byte ^ 1 : byte));
const FAULTS: readonly [string, Faults][] = [
  ["a registration's type", { type: "webauthn.create" }],
  ["a page of the origin inside a stranger's", { crossOrigin: true }],
  ["the origin of the page around it", { clientData: { topOrigin: "https://example.com" } }],
  ["a bound connection", { clientData: { tokenBinding: { status: "present", id: "AAAA" } } }],
  ["another origin", { origin: "https://localhost:8787" }],
  ["an origin that only begins like ours", { origin: "http://localhost:8787.example.com" }],
  ["another RP id", { rpId: "example.com" }],
  ["nobody present", { isUserPresent: false }],
  ["no user verification", { isUserVerified: false }],
  ["a backup of what cannot be backed up", { flags: 0b0001_0000 }],
  ["another raw id", { rawId: "AAAA" }],
  ["extensions that are not there", { flags: 0b1000_0000 }],
  [
    "extensions that are no map",
    { flags: 0b1000_0000, authenticatorData: (data) => new Uint8Array([...data, ...cbor(0)]) },
  ],
  ["a byte behind the authenticator data", { authenticatorData: (data) => new Uint8Array([...data, 0]) }],
  ["authenticator data of 36 bytes", { authenticatorData: (data) => data.subarray(0, 36) }],
  ["an altered signature", { signature: lastChanged }],
  ["no signature", { signature: () => new Uint8Array() }],
];

describe.each(ALGORITHMS)("by a key of %s", (algorithm) => {
  test.each(FAULTS)("%s is refused", async (_, faults) => {
    const { authenticator, publicKey } = await registered({ algorithm });
    expect(await judged(await authenticator.get(OPTIONS, faults), publicKey)).toBeUndefined();
  });

  test("what another key signed is refused", async () => {
    const [mine, theirs] = [await registered({ algorithm }), await registered({ algorithm })];
    const answer = await mine.authenticator.get(OPTIONS);
    expect(await judged(answer, mine.publicKey)).toBeDefined();
    expect(await judged(answer, theirs.publicKey)).toBeUndefined();
  });

  test("what was signed is the authenticator's data and the client's: neither may be another's", async () => {
    const { authenticator, publicKey } = await registered({ algorithm });
    const [first, second] = [await authenticator.get(OPTIONS), await authenticator.get({ challenge: "b3RoZXI" })];
    const { clientDataJSON, authenticatorData } = second.response;
    for (const part of [{ clientDataJSON }, { authenticatorData }])
      expect(await judged({ ...first, response: { ...first.response, ...part } }, publicKey)).toBeUndefined();
  });

  const change = fc.record({ at: fc.nat(300), to: fc.integer({ min: 1, max: 255 }) });
  const alter = (of: { readonly at: number; readonly to: number }) => (bytes: Uint8Array) =>
    bytes.map((byte, i) => (i === of.at % bytes.length ? byte ^ of.to : byte));

  test("whatever byte an authenticator signs, the library says the same of it", async () => {
    const { authenticator, publicKey } = await registered({ algorithm });
    await fc.assert(
      fc.asyncProperty(change, async (of) => {
        const answer = await authenticator.get(OPTIONS, { authenticatorData: alter(of) });
        expect(await judged(answer, publicKey)).toEqual(await judgedByLibrary(answer, publicKey));
      }),
      { numRuns: RUNS },
    );
  });

  test("whatever byte of a signature is changed, it is refused", async () => {
    const { authenticator, publicKey } = await registered({ algorithm });
    await fc.assert(
      fc.asyncProperty(change, async (of) => {
        const answer = await authenticator.get(OPTIONS, { signature: alter(of) });
        expect(await judged(answer, publicKey)).toBeUndefined();
      }),
      { numRuns: RUNS },
    );
  });
});

test("a stored key that is none signs nothing", async () => {
  const { authenticator } = await registered();
  const answer = await authenticator.get(OPTIONS);
  for (const publicKey of ["", "AAAA", base64urlnopad.encode(cbor(new Map([[3, -7]])))])
    expect(await judged(answer, publicKey)).toBeUndefined();
});
