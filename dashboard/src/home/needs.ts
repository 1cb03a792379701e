// What needs attention, in words: what it is, and what to do about it.
import type { Attention } from "../api/operations.ts";

export type Need = Attention["data"][number];
type NeedType = Need["type"];

interface Words {
  readonly title: string;
  readonly about: string;
}

export const NEEDS: Readonly<Record<NeedType, Words>> = {
  WALLET_ALTERED: {
    title: "A wallet was altered in the database",
    about: "It is no longer used, so no customer pays to someone else's address. Delete it, then add it again.",
  },
  NETWORK_LAGGING: {
    title: "A network cannot be read",
    about: "Payments on it show up once it can be read again; none are lost. The operator can check its data source.",
  },
  WALLET_AMOUNTS_LOW: {
    title: "An address is running out of amounts",
    about:
      "Many invoices of the same price wait at one address, and each needs its own amount. A wallet with an extended key has no such limit.",
  },
  WALLET_GAP: {
    title: "Many addresses in a row are unpaid",
    about: "Raise the gap limit in your wallet software, or it may not show payments to the newest addresses.",
  },
  WALLET_CHANGE_PENDING: {
    title: "A changed wallet is not in use yet",
    about: "If your team did not make this change, disable the wallet now. Nobody can pay to it yet.",
  },
  PAYMENT_UNMATCHED: {
    title: "Payments fit no invoice",
    about: "They could not be credited automatically. Assign each to an invoice, or ignore it.",
  },
  INVOICE_IN_REVIEW: {
    title: "Invoices need your decision",
    about: "Money arrived late or could not be valued. Accept, dismiss or return it.",
  },
  INVOICE_UNDERPAID: {
    title: "Underpaid invoices",
    about: "Accept what arrived, or ask the customer for the rest.",
  },
  ENDPOINT_DISABLED: {
    title: "An endpoint was turned off",
    about: "It did not accept its events. Fix it and turn it on again: the waiting events are then sent.",
  },
  ENDPOINT_FAILING: {
    title: "An endpoint is failing",
    about: "Deliveries are retried on a schedule. Check its log, then send a ping to see whether it answers.",
  },
};

/** `3`, and `100+` where counting stopped. */
export function howMany({ count, isMore }: Pick<Need, "count" | "isMore">): string {
  return isMore ? `${count}+` : String(count);
}
