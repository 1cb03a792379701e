// The wire format of passkeys: the browser's `PublicKeyCredential.toJSON()`, and the fields of a registered passkey.
import * as z from "zod";
import { time } from "../../lib/fields.ts";
import { listBody, listQuery } from "../../lib/pagination.ts";

/** The longest credential id in base64url; it has at most 1,023 bytes. */
const MAX_ID = 1_364;
const MAX_BYTES_TEXT = 40_000;
const MAX_NAME = 100;

function base64url(max: number) {
  return z
    .string()
    .min(1)
    .max(max)
    .regex(/^[A-Za-z0-9_-]+$/, "must be base64url without padding");
}

const identity = () => ({ id: base64url(MAX_ID), rawId: base64url(MAX_ID), type: z.literal("public-key") });

/** The result of `navigator.credentials.get`. Unlike our other requests it allows unknown members, because browsers add some. */
export const assertionBody = () =>
  z
    .object({
      ...identity(),
      response: z.object({
        clientDataJSON: base64url(MAX_BYTES_TEXT),
        authenticatorData: base64url(MAX_BYTES_TEXT),
        signature: base64url(MAX_BYTES_TEXT),
        userHandle: z.string().max(MAX_ID).nullish(),
      }),
    })
    .meta({ description: "The credential that `navigator.credentials.get` returned, converted with `toJSON()`." });

/** The result of `navigator.credentials.create`. */
export const attestationBody = () =>
  z
    .object({
      ...identity(),
      response: z.object({
        clientDataJSON: base64url(MAX_BYTES_TEXT),
        attestationObject: base64url(MAX_BYTES_TEXT),
        transports: z.array(z.string().max(40)).max(20).optional(),
      }),
    })
    .meta({ description: "The credential that `navigator.credentials.create` returned, converted with `toJSON()`." });

const name = () =>
  z
    .string()
    .trim()
    .refine((text) => text.length > 0, "must not be empty")
    .refine((text) => [...text].length <= MAX_NAME, `must have at most ${MAX_NAME} characters`)
    .meta({ minLength: 1, maxLength: MAX_NAME, examples: ["Work laptop"] });

export const addPasskeyBody = () => z.strictObject({ credential: attestationBody(), name: name().default("Passkey") });
export const updatePasskeyBody = () => z.strictObject({ name: name() });
export const verifyPasskeyBody = () => z.strictObject({ credential: assertionBody() });
export const listPasskeysQuery = () => z.object(listQuery());

// ---- responses

const credentials = () => z.array(z.object({ id: z.string(), type: z.literal("public-key") }));
const options = {
  challenge: () => z.string().meta({ description: "Base64url; works once, for 5 minutes." }),
  timeout: () => z.int().meta({ description: "Milliseconds." }),
};

export const passkeyBody = () =>
  z
    .object({
      id: z.string(),
      name: z.string(),
      createdAt: time(),
      lastUsedAt: time().nullable(),
      isBackedUp: z
        .boolean()
        .meta({ description: "Whether the passkey is backed up and so survives the loss of the device." }),
    })
    .meta({ title: "Passkey" });

export const passkeyListBody = () => listBody(passkeyBody()).meta({ title: "PasskeyList" });

export const creationOptionsBody = () =>
  z
    .looseObject({
      challenge: options.challenge(),
      rp: z.object({ name: z.string(), id: z.string() }),
      user: z.object({ id: z.string(), name: z.string(), displayName: z.string() }),
      pubKeyCredParams: z.array(z.object({ alg: z.int(), type: z.literal("public-key") })),
      timeout: options.timeout(),
      attestation: z.literal("none"),
      excludeCredentials: credentials(),
      authenticatorSelection: z.looseObject({
        residentKey: z.literal("required"),
        userVerification: z.literal("required"),
      }),
    })
    .meta({
      title: "PasskeyCreationOptions",
      description: "For `PublicKeyCredential.parseCreationOptionsFromJSON`.",
    });

export const requestOptionsBody = () =>
  z
    .looseObject({
      challenge: options.challenge(),
      rpId: z.string(),
      timeout: options.timeout(),
      userVerification: z.literal("required"),
      allowCredentials: credentials().optional(),
    })
    .meta({
      title: "PasskeyRequestOptions",
      description: "For `PublicKeyCredential.parseRequestOptionsFromJSON`.",
    });
