// The wire format of second factors and step-up.
import * as z from "zod";
import { assertionBody, requestOptionsBody } from "../passkeys/contract.ts";
import { codeKindOf, type FactorProof } from "./factor-proof.ts";

const code = () =>
  z
    .string()
    .max(60)
    .transform((text) => text.trim())
    .refine((text) => text.length > 0, "must not be empty");

const proofMembers = () =>
  z.strictObject({
    method: z.enum(["totp", "backup_code", "email_code", "passkey"]).optional().meta({
      description:
        "If absent, a 6-digit code counts as totp, an 8-digit code as email_code, and any other code as backup_code.",
    }),
    code: code()
      .optional()
      .meta({ examples: ["012345"] }),
    credential: assertionBody().optional(),
  });

/** A code or a passkey assertion, never both. */
export const proofBody = () =>
  proofMembers().transform((body, context): FactorProof => {
    const { method, credential } = body;
    if (credential !== undefined && body.code === undefined && (method ?? "passkey") === "passkey")
      return { factor: "passkey", credential };
    if (credential === undefined && body.code !== undefined && method !== "passkey") {
      // Apps and emails show the digits in groups.
      const digits = body.code.replaceAll(/\s/g, "");
      return { factor: method ?? codeKindOf(digits), code: digits };
    }
    context.addIssue({
      code: "custom",
      message: "must have a code, or the credential of a passkey if method is passkey",
    });
    return z.NEVER;
  });

// ---- responses

export const askedBody = () =>
  z
    .object({
      factors: z
        .array(z.enum(["passkey", "totp", "backup_code", "email_code"]))
        .meta({ description: "Any one of these is enough. If email_code is listed, a code was mailed." }),
      passkey: requestOptionsBody()
        .nullable()
        .meta({ description: "Options for `navigator.credentials.get`; null if the user has no passkey." }),
    })
    .meta({ title: "AskedFactors" });
