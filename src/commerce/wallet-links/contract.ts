import * as z from "zod";

/** Longer than any of our tokens. A shorter string that is not a token is refused as an unknown link, not as invalid input. */
const LONGEST_TOKEN = 200;

export const disableWalletBody = () =>
  z.strictObject({
    token: z.string().max(LONGEST_TOKEN).meta({ description: "The token from the link in the mail, after `#token=`." }),
  });

export const disabledWalletBody = () => z.object({ walletId: z.string(), isEnabled: z.literal(false) });
