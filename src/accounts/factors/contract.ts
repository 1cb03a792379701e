// The wire of second factors and step-up.
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
    method: z
      .enum(["totp", "backup_code", "email_code", "passkey"])
      .optional()
      .meta({ description: "By default 6 digits are totp, 8 digits email_code, any other code backup_code." }),
    code: code()
      .optional()
      .meta({ examples: ["012345"] }),
    credential: assertionBody().optional(),
  });

/** A code or a passkey's answer, never both. */
export const proofBody = () =>
  proofMembers().transform((body, context): FactorProof => {
    const { method, credential } = body;
    if (credential !== undefined && body.code === undefined && (method ?? "passkey") === "passkey")
      return { factor: "passkey", credential };
    if (credential === undefined && body.code !== undefined && method !== "passkey") {
      // Apps and mails show digits in groups.
      const digits = body.code.replaceAll(/\s/g, "");
      return { factor: method ?? codeKindOf(digits), code: digits };
    }
    context.addIssue({ code: "custom", message: "must have a code, or the credential of a passkey, as method says" });
    return z.NEVER;
  });

// ---- answers

export const askedBody = () =>
  z
    .object({
      factors: z
        .array(z.enum(["passkey", "totp", "backup_code", "email_code"]))
        .meta({ description: "With any one of these it goes on; for email_code a code is on its way." }),
      passkey: requestOptionsBody()
        .nullable()
        .meta({ description: "Options for a passkey; null where there is none." }),
    })
    .meta({ title: "AskedFactors" });
