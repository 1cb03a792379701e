// The wire of authenticator apps and backup codes.
import * as z from "zod";

/** Six digits; copied spaces are dropped. */
const code = () =>
  z
    .string()
    .max(40)
    .transform((text) => text.replaceAll(/\s/g, ""))
    .refine((text) => /^\d{6}$/.test(text), "must be 6 digits")
    .meta({ description: "The 6 digits that the app shows.", examples: ["012345"] });

export const confirmTotpBody = () => z.strictObject({ code: code() });

// ---- answers

export const totpSecretBody = () =>
  z
    .object({
      secret: z.string().meta({ description: "Base32, to type into an app." }),
      otpauthUri: z.string().meta({ description: "The same for a QR code.", examples: ["otpauth://totp/..."] }),
    })
    .meta({ title: "TotpSecret" });

export const backupCodesBody = () =>
  z
    .object({
      backupCodes: z
        .array(z.string())
        .meta({ description: "Ten codes, each for one use, shown this once.", examples: [["7K2QF-M0XTB"]] }),
    })
    .meta({ title: "BackupCodes" });
