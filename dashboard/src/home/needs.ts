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
    about: "It is not used any more, so that no customer pays to a foreign address. Delete it, then register it anew.",
  },
  NETWORK_LAGGING: {
    title: "A network cannot be read",
    about: "Payments on it are noticed once it can be read again; none is lost. The operator may check its source.",
  },
  WALLET_AMOUNTS_LOW: {
    title: "Amounts run low at an address",
    about:
      "Many invoices over one price wait at one address, and each needs an amount of its own. A wallet with an extended key has no such bound.",
  },
  WALLET_GAP: {
    title: "Many addresses in a row were not paid",
    about: "Raise the gap limit of your wallet software, or it may not show payments to the newest addresses.",
  },
  WALLET_CHANGE_PENDING: {
    title: "A wallet was changed and is not used yet",
    about: "If it was not your team who changed it, disable it now: until then nobody can pay to it.",
  },
  PAYMENT_UNMATCHED: {
    title: "Payments fit no invoice",
    about: "No rule credited them: assign each to an invoice, or ignore it.",
  },
  INVOICE_IN_REVIEW: {
    title: "Invoices wait for your decision",
    about: "Money came late, or could not be valued: accept, dismiss or return it.",
  },
  INVOICE_UNDERPAID: {
    title: "Too little came for invoices",
    about: "Accept what came, or ask the customer for the rest.",
  },
  ENDPOINT_DISABLED: {
    title: "An endpoint was switched off",
    about: "It did not take its events. Mend it and switch it on again: the events that waited are then sent.",
  },
  ENDPOINT_FAILING: {
    title: "An endpoint fails",
    about: "It is tried again by schedule. Look at its log, then send it a ping to see whether it answers.",
  },
};

/** `3`, and `100+` where counting stopped. */
export function howMany({ count, isMore }: Pick<Need, "count" | "isMore">): string {
  return isMore ? `${count}+` : String(count);
}
