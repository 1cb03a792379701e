import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { passkeys } from "../../../src/platform/db/schema/users.ts";
import { expectRefusal, send } from "../../support/access.ts";
import { seedSession, seedUser } from "../../support/people.ts";
import { type Authenticator, type Faults, softwareAuthenticator } from "../../support/software-authenticator.ts";
import {
  auditOf,
  creationOptions,
  db,
  expire,
  type Headers,
  MINE,
  passkeyUser,
  register,
  signIn,
} from "./passkeys-harness.ts";

describe("managing passkeys:", () => {
  test("the options ask for a discoverable, user-verifying credential without attestation", async () => {
    const { headers, userId, email } = await seedUser({ name: "Ada" });
    const asked = await send(`${MINE}/options`, { method: "POST", headers });
    expect(asked.json).toMatchObject({
      rp: { id: "localhost", name: "Edgetill" },
      user: { id: btoa(userId).replaceAll("=", ""), name: email, displayName: "Ada" },
      pubKeyCredParams: [-8, -7, -257].map((alg) => ({ alg, type: "public-key" })),
      attestation: "none",
      authenticatorSelection: { residentKey: "required", requireResidentKey: true, userVerification: "required" },
      excludeCredentials: [],
      timeout: 300_000,
    });
  });

  test("a registered passkey can be listed, renamed and removed, with audit entries, and its public key is never shown", async () => {
    const user = await passkeyUser();
    const [shown] = await db.select().from(passkeys).where(eq(passkeys.userId, user.userId));
    const listed = await send(MINE, { headers: user.headers });
    expect(JSON.parse(listed.text)).toMatchObject({
      data: [{ id: user.passkeyId, name: "Laptop", lastUsedAt: null, isBackedUp: false }],
      nextCursor: null,
      pagination: { page: 1, limit: 20, total: 1, lastPage: 1 },
    });
    expect(listed.text).not.toContain(shown?.publicKey);
    expect(shown).toMatchObject({ transports: '["internal","hybrid"]', counter: 1 });
    const one = `${MINE}/${user.passkeyId}`;
    // From now on the owner must step up with a passkey; this session did so with an emailed code.
    const refused = await send(one, { method: "DELETE", headers: user.headers });
    expect(expectRefusal(refused, 403, "STEP_UP_REQUIRED").factors).toEqual(["passkey"]);
    const headers = await seedSession(user.userId, { factor: "PASSKEY" });
    const renamed = await send(one, { method: "PATCH", headers, body: { name: " Key ring " } });
    expect([renamed.status, renamed.json?.name]).toEqual([200, "Key ring"]);
    expect((await send(one, { method: "DELETE", headers })).status).toBe(204);
    expectRefusal(await send(one, { method: "PATCH", headers, body: { name: "Gone" } }), 404, "PASSKEY_NOT_FOUND");
    expect(await auditOf(user.passkeyId)).toEqual(["passkey.added", "passkey.renamed", "passkey.removed"]);
    expectRefusal(await signIn(user.authenticator), 401, "PASSKEY_REFUSED");
  });

  test("the options exclude the passkeys that the user already has", async () => {
    const user = await passkeyUser();
    const headers = await seedSession(user.userId, { factor: "PASSKEY" });
    const { excludeCredentials } = await creationOptions(headers);
    expect(excludeCredentials.map(({ id }) => id)).toEqual([user.authenticator.credentialId]);
  });

  test.each(["ES256", "EdDSA", "RS256"] as const)("an %s key can be registered and sign in", async (algorithm) => {
    const authenticator = await softwareAuthenticator({ algorithm });
    expect((await register(await seedUser(), authenticator)).status).toBe(201);
    expect((await signIn(authenticator)).status).toBe(200);
    const signature = (signed: Uint8Array) => signed.map((byte, i) => (i === signed.length - 1 ? byte ^ 1 : byte));
    expectRefusal(await signIn(authenticator, { signature }), 401, "PASSKEY_REFUSED");
  });

  test("a credential that another user has registered is refused", async () => {
    const { authenticator } = await passkeyUser();
    expectRefusal(await register(await seedUser(), authenticator), 409, "PASSKEY_EXISTS");
  });

  const FAULTS: readonly [string, Faults][] = [
    ["a different origin", { origin: "http://localhost:8788" }],
    ["the cross-origin flag of a framed page", { crossOrigin: true }],
    ["a different RP id", { rpId: "example.com" }],
    ["no user verification", { isUserVerified: false }],
    ["no user presence", { isUserPresent: false }],
    ["the type of an assertion", { type: "webauthn.get" }],
    ["a challenge that was never issued", { challenge: "A".repeat(43) }],
    ["another credential's id", { id: "AAAA" }],
    ["self attestation", { attestation: "packed" }],
    ["an attestation with a certificate", { attestation: "packed with certificate" }],
    ["a FIDO U2F attestation", { attestation: "fido-u2f" }],
    ["an Apple attestation", { attestation: "apple" }],
    ["a TPM attestation", { attestation: "tpm" }],
    ["an attestation in an unknown format", { attestation: "unknown" }],
    [
      "a non-empty statement in the format 'none'",
      { attestationMembers: new Map([["attStmt", new Map([["alg", -7]])]]) },
    ],
    ["a backup flag on a passkey that cannot be backed up", { flags: 0b0001_0000 }],
    ["an algorithm that was not offered", { key: new Map([[3, -35]]) }],
    ["a byte after the attestation object", { attestationObject: (object) => new Uint8Array([...object, 0]) }],
  ];
  test.each(FAULTS)("a credential with %s is refused and not registered", async (_, faults) => {
    const user = await seedUser();
    expectRefusal(await register(user, await softwareAuthenticator(), faults), 401, "PASSKEY_REFUSED");
    expect(await db.select().from(passkeys).where(eq(passkeys.userId, user.userId))).toEqual([]);
  });

  test("a challenge works once, only in the session that asked for it, and not after its expiry", async () => {
    const user = await seedUser();
    const options = await creationOptions(user.headers);
    const add = async (headers: Headers, authenticator: Authenticator) =>
      send(MINE, { method: "POST", headers, body: { credential: await authenticator.create(options) } });
    const stranger = await seedUser();
    const elsewhere = await seedSession(user.userId);
    expectRefusal(await add(stranger.headers, await softwareAuthenticator()), 401, "PASSKEY_REFUSED");
    expectRefusal(await add(elsewhere, await softwareAuthenticator()), 401, "PASSKEY_REFUSED");
    const both = await Promise.all([1, 2].map(async () => add(user.headers, await softwareAuthenticator())));
    expect(both.map(({ status }) => status).sort()).toEqual([201, 401]);

    const late = await seedUser();
    const expired = await creationOptions(late.headers);
    await expire(expired.challenge);
    const credential = await (await softwareAuthenticator()).create(expired);
    const answer = await send(MINE, { method: "POST", headers: late.headers, body: { credential } });
    expectRefusal(answer, 401, "PASSKEY_REFUSED");
  });

  test("another user's passkey cannot be renamed or removed", async () => {
    const { passkeyId } = await passkeyUser();
    const { headers } = await seedUser();
    const one = `${MINE}/${passkeyId}`;
    expectRefusal(await send(one, { method: "PATCH", headers, body: { name: "Mine" } }), 404, "PASSKEY_NOT_FOUND");
    expectRefusal(await send(one, { method: "DELETE", headers }), 404, "PASSKEY_NOT_FOUND");
  });

  test("one of two parallel removals succeeds, and the other gets 404", async () => {
    const user = await passkeyUser();
    const headers = await seedSession(user.userId, { factor: "PASSKEY" });
    const ask = async () => send(`${MINE}/${user.passkeyId}`, { method: "DELETE", headers });
    const both = await Promise.all([ask(), ask()]);
    expect(both.map(({ status }) => status).sort()).toEqual([204, 404]);
  });
});
