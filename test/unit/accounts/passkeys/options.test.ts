import { base64urlnopad } from "@scure/base";
import { generateAuthenticationOptions, generateRegistrationOptions } from "@simplewebauthn/server";
import { describe, expect, test } from "vitest";
import { userHandleOf } from "../../../../src/accounts/passkeys/credential.ts";
import { creationOptions, requestOptions } from "../../../../src/accounts/passkeys/options.ts";
import { makeId } from "../../../../src/lib/ids.ts";

const CHALLENGE = new Uint8Array(32).fill(0xfb);
const challenge = base64urlnopad.encode(CHALLENGE);
const rpId = "pay.example.com";
const id = makeId("usr", "01ARZ3NDEKTSV4RRFFQ69G5FAV");
const registered = [{ credentialId: "-_8" }, { credentialId: "AAAA" }];
const sent = (options: object): unknown => JSON.parse(JSON.stringify(options));

describe("the passkey options sent to a browser are the library's", () => {
  test.each([
    ["Ada", "Ada", registered],
    [null, "ada@example.com", []],
  ])("for a new passkey of %s", async (name, userDisplayName, own) => {
    const user = { id, email: "ada@example.com", name };
    const options = await generateRegistrationOptions({
      rpName: "Edgetill",
      rpID: rpId,
      userID: userHandleOf(id),
      userName: user.email,
      userDisplayName,
      challenge: CHALLENGE,
      timeout: 300_000,
      attestationType: "none",
      authenticatorSelection: { residentKey: "required", userVerification: "required" },
      supportedAlgorithmIDs: [-8, -7, -257],
      excludeCredentials: own.map(({ credentialId }) => ({ id: credentialId })),
    });
    expect(sent(creationOptions({ rpId, challenge, user, registered: own }))).toEqual(sent(options));
  });

  test.each([[registered], [[]], [undefined]])("for signing with one of %j", async (own) => {
    const options = await generateAuthenticationOptions({
      rpID: rpId,
      challenge: CHALLENGE,
      timeout: 300_000,
      userVerification: "required",
      ...(own && { allowCredentials: own.map(({ credentialId }) => ({ id: credentialId })) }),
    });
    expect(sent(requestOptions({ rpId, challenge, ...(own && { registered: own }) }))).toEqual(sent(options));
  });
});
