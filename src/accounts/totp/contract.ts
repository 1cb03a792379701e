// The wire format of authenticator apps and backup codes.
import * as z from "zod";

/** Six digits; spaces are removed. */
const code = () =>
  z
    .string()
    .max(40)
    .transform((text) => text.replaceAll(/\s/g, ""))
    .refine((text) => /^\d{6}$/.test(text), "must be 6 digits")
    .meta({ description: "The 6 digits that the app shows.", examples: ["012345"] });

export const confirmTotpBody = () => z.strictObject({ code: code() });

// ---- responses

export const totpSecretBody = () =>
  z
    .object({
      secret: z.string().meta({ description: "The secret in base32, to type into an app." }),
      otpauthUri: z
        .string()
        .meta({ description: "The secret as a URI, for a QR code.", examples: ["otpauth://totp/..."] }),
    })
    .meta({ title: "TotpSecret" });

export const backupCodesBody = () =>
  z
    .object({
      backupCodes: z.array(z.string()).meta({
        description: "Ten codes, each for one use. Shown only in this response.",
        examples: [["7K2QF-M0XTB"]],
      }),
    })
    .meta({ title: "BackupCodes" });
