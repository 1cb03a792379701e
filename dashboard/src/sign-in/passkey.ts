// Uses the browser's passkeys: takes options from the API and returns the response that the API expects.
import type {
  AddPasskeyBody,
  PasskeyCreationOptions,
  PasskeyRequestOptions,
  VerifyPasskeySignInBody,
} from "../api/operations.ts";

export const hasPasskeys = "PublicKeyCredential" in window && "parseRequestOptionsFromJSON" in PublicKeyCredential;

const NOT_GIVEN = "No passkey was used. Try again.";

/** The user closed the dialog, or the device has no passkey for this site. Replaces the browser's own message, which does not help users. */
class PasskeyNotGiven extends Error {
  override readonly name = "PasskeyNotGiven";
}

export async function givePasskey(options: PasskeyRequestOptions): Promise<VerifyPasskeySignInBody["credential"]> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options as PublicKeyCredentialRequestOptionsJSON);
  const credential = await navigator.credentials.get({ publicKey }).catch(refuse);
  const { response, ...others } = given(credential).toJSON();
  if (!("signature" in response)) throw new PasskeyNotGiven(NOT_GIVEN);
  return { ...others, type: "public-key", response };
}

export async function makePasskey(options: PasskeyCreationOptions): Promise<AddPasskeyBody["credential"]> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options as PublicKeyCredentialCreationOptionsJSON);
  const credential = await navigator.credentials.create({ publicKey }).catch(refuse);
  const { response, ...others } = given(credential).toJSON();
  if (!("attestationObject" in response)) throw new PasskeyNotGiven(NOT_GIVEN);
  return { ...others, type: "public-key", response };
}

function given(credential: Credential | null): PublicKeyCredential {
  if (!(credential instanceof PublicKeyCredential)) throw new PasskeyNotGiven(NOT_GIVEN);
  return credential;
}

function refuse(error: unknown): never {
  const isKnown = error instanceof DOMException && error.name === "InvalidStateError";
  throw new PasskeyNotGiven(isKnown ? "This device already has a passkey for your account." : NOT_GIVEN, {
    cause: error,
  });
}
