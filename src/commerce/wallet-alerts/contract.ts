import * as z from "zod";

/** Longer than any token of ours; other text is an unknown token. */
const LONGEST_TOKEN = 200;

export const disableWalletBody = () =>
  z.strictObject({
    token: z.string().max(LONGEST_TOKEN).meta({ description: "Of the link in the mail, after `#token=`." }),
  });

export const disabledWalletBody = () => z.object({ walletId: z.string(), isEnabled: z.literal(false) });
