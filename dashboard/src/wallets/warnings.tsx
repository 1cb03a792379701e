// Explains a wallet's warnings: what each means, and what to do about it.
import { Alert } from "@mantine/core";
import type { ReactNode } from "react";
import type { Wallet } from "../api/operations.ts";
import { networkName } from "../shell/coin-name.ts";
import { Time } from "../shell/time.tsx";
import { recommendedConfirmations } from "./pairs.ts";

interface Words {
  readonly color: string;
  readonly title: string;
  readonly text: ReactNode;
}

/** The text for each of the service's warnings; undefined for a warning that this console does not know. */
function wordsOf(warning: string, wallet: Wallet): Words | undefined {
  const { network, requiredConfirmations, usableFrom } = wallet;
  switch (warning) {
    case "LOW_CONFIRMATIONS":
      return {
        color: "orange",
        title: `${requiredConfirmations} of ${recommendedConfirmations(network)} recommended confirmations`,
        text: "A payment may count and then disappear from the chain. This is acceptable for small amounts only.",
      };
    case "NETWORK_NOT_WATCHED":
      return {
        color: "orange",
        title: "This network is not watched yet",
        text: `This deployment has no data source for ${networkName(network)}, so it would not detect a payment. Its operator can add one.`,
      };
    case "INTEGRITY_CHECK_FAILED":
      return {
        color: "red",
        title: "This wallet was altered in the database",
        text: "It is no longer used, so no customer pays to someone else's address. Delete it, then add it again from your wallet software.",
      };
    case "CHANGE_PENDING":
      if (usableFrom === null) return undefined;
      return {
        color: "yellow",
        title: "Not in use yet",
        text: (
          <>
            Invoices will use it from <Time value={usableFrom} />. If your team did not make this change, disable the
            wallet before then.
          </>
        ),
      };
    default:
      return undefined;
  }
}

export function WalletWarnings({ wallet }: { readonly wallet: Wallet }) {
  return wallet.warnings.map((warning) => {
    const words = wordsOf(warning, wallet);
    return (
      words !== undefined && (
        <Alert key={warning} color={words.color} title={words.title}>
          {words.text}
        </Alert>
      )
    );
  });
}
