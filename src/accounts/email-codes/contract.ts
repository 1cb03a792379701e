// The wire format of sign-in with an emailed code.
import * as z from "zod";
import { emailField } from "../../lib/fields.ts";

/** Eight digits; spaces are removed. */
const code = () =>
  z
    .string()
    .max(40)
    .transform((text) => text.replaceAll(/\s/g, ""))
    .refine((text) => /^\d{8}$/.test(text), "must be 8 digits")
    .meta({ description: "The 8 digits in the mail.", examples: ["01234567"] });

export const startBody = () => z.strictObject({ email: emailField() });
export const verifyBody = () => z.strictObject({ email: emailField(), code: code() });

// ---- responses

export const sentBody = () => z.object({ status: z.literal("sent") }).meta({ title: "CodeSent" });

/** The response to every sign-in, second factor and step-up; the session's token is in its cookie. */
export const signedInBody = () =>
  z
    .object({
      state: z.enum(["active", "pending_2fa"]),
      factors: z
        .array(z.enum(["passkey", "totp", "backup_code", "email_code"]))
        .meta({ description: "The factors that complete pending_2fa; empty if the session is active." }),
      user: z.object({ id: z.string(), email: z.string(), name: z.string().nullable() }),
    })
    .meta({ title: "SignedIn" });
