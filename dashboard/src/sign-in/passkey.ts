// Passkeys as the browser has them: options from the API in, an answer for the API out.
import type {
  AddPasskeyBody,
  PasskeyCreationOptions,
  PasskeyRequestOptions,
  VerifyPasskeySignInBody,
} from "../api/operations.ts";

export const hasPasskeys = "PublicKeyCredential" in window && "parseRequestOptionsFromJSON" in PublicKeyCredential;

/** The browser's own words are of no use to a user: the dialog was closed, or there is no passkey here. */
export class PasskeyNotGiven extends Error {
  override readonly name = "PasskeyNotGiven";
}

/** Asks the user for a passkey. */
export async function givePasskey(options: PasskeyRequestOptions): Promise<VerifyPasskeySignInBody["credential"]> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
    options as unknown as PublicKeyCredentialRequestOptionsJSON,
  );
  const credential = await navigator.credentials.get({ publicKey }).catch(refuse);
  return jsonOf(credential) as unknown as VerifyPasskeySignInBody["credential"];
}

/** Has the user's device make a passkey. */
export async function makePasskey(options: PasskeyCreationOptions): Promise<AddPasskeyBody["credential"]> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
    options as unknown as PublicKeyCredentialCreationOptionsJSON,
  );
  const credential = await navigator.credentials.create({ publicKey }).catch(refuse);
  return jsonOf(credential) as unknown as AddPasskeyBody["credential"];
}

function jsonOf(credential: Credential | null): unknown {
  if (!(credential instanceof PublicKeyCredential)) throw new PasskeyNotGiven("No passkey was given. Try again.");
  return credential.toJSON();
}

function refuse(error: unknown): never {
  const isKnown = error instanceof DOMException && error.name === "InvalidStateError";
  throw new PasskeyNotGiven(
    isKnown ? "This device has a passkey of your account already." : "No passkey was given. Try again.",
    { cause: error },
  );
}
