// Texts for everything that needs attention: what it is, and what to do about it.
import type { Attention } from "../api/operations.ts";

export type Need = Attention["data"][number];
type NeedType = Need["type"];

interface Words {
  readonly title: string;
  readonly about: string;
}

export const NEEDS: Readonly<Record<NeedType, Words>> = {
  WALLET_ALTERED: {
    title: "Altered wallets",
    about:
      "They were altered in the database and are no longer used, so no customer pays to someone else's address. Delete each one, then add it again.",
  },
  NETWORK_LAGGING: {
    title: "Unreadable networks",
    about:
      "Payments on these networks appear once they can be read again; none are lost. An operator can check the data sources.",
  },
  WALLET_AMOUNTS_LOW: {
    title: "Wallets low on unique amounts",
    about:
      "Many open invoices with the same price share one address, and each needs a unique amount. A wallet with an extended key has no such limit.",
  },
  WALLET_GAP: {
    title: "Wallets near their gap limit",
    about: "Raise the gap limit in your wallet software, or it may not show payments to the newest addresses.",
  },
  WALLET_CHANGE_PENDING: {
    title: "Pending wallet changes",
    about: "If your team did not make a change, disable that wallet now. Customers cannot pay to it yet.",
  },
  PAYMENT_UNMATCHED: {
    title: "Unmatched payments",
    about: "They could not be credited automatically. Assign each to an invoice, or ignore it.",
  },
  INVOICE_IN_REVIEW: {
    title: "Invoices to review",
    about: "Money arrived late or could not be valued. Accept it, dismiss the review, or return the money.",
  },
  INVOICE_UNDERPAID: {
    title: "Underpaid invoices",
    about: "Accept the amount received, or request the remaining amount.",
  },
  ENDPOINT_DISABLED: {
    title: "Disabled endpoints",
    about:
      "They stopped accepting events and were turned off. Fix each one and turn it on again: the waiting events are then sent.",
  },
  ENDPOINT_FAILING: {
    title: "Failing endpoints",
    about:
      "Failed deliveries are retried automatically. Check the endpoint's deliveries, then send a ping to see whether it responds.",
  },
};

/** `3`, or `100+` if not all were counted. */
export function howMany({ count, isMore }: Pick<Need, "count" | "isMore">): string {
  return isMore ? `${count}+` : String(count);
}
