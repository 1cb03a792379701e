// The claim that a page is about: which sentence it shows, with which values. Decided again at each read, so that the sentence follows the invoice.
import type { InvoiceFile } from "../../commerce/invoice-records/invoice.ts";
import type { MethodBody } from "../../commerce/invoices/invoice-body.ts";
import { type ClaimStanding, type StandingFacts, standingOf } from "../../detection/claims/standing.ts";
import type { ClaimId } from "../../lib/ids.ts";
import type { Texts } from "../../platform/texts/en.ts";
import { coinText } from "../../platform/texts/format.ts";

export interface ClaimView {
  readonly id: ClaimId;
  readonly text: keyof Texts;
  /** Whether the payer needs to do nothing more. */
  readonly isGood: boolean;
  /** What the transaction brought, and what the invoice asks for in the same coin: `40 USDC`; "" if the text does not include it. */
  readonly sent: string;
  readonly asked: string;
}

export interface ClaimFacts extends Pick<StandingFacts, "claimed"> {
  readonly claim: (StandingFacts["claim"] & { readonly id: ClaimId }) | null;
}

export function claimView(
  facts: ClaimFacts & {
    readonly file: InvoiceFile;
    /** With the amounts that are still due. */
    readonly methods: readonly MethodBody[];
    readonly nowMs: number;
  },
): ClaimView | null {
  const { claim, claimed, file, nowMs } = facts;
  if (claim === null) return null;
  const { invoice, payments } = file;
  const { standing, amounts } = standingOf({ claim, claimed, invoice, payments, nowMs });
  const sent = amounts.map(({ amount, cryptocurrency }) => coinText(amount, cryptocurrency)).join(", ");
  const [coin, ...others] = amounts;
  const method = facts.methods.find(
    ({ network, cryptocurrency, status }) =>
      network === claim.network && cryptocurrency === coin?.cryptocurrency && status === "ACTIVE",
  );
  const due = method?.amountDue ?? null;
  const isAsked = due !== null && /[1-9]/.test(due) && others.length === 0;
  const asked = isAsked && method !== undefined ? coinText(due, method.cryptocurrency) : "";
  const isDifferent = asked !== "" && asked !== sent;
  return {
    id: claim.id,
    text: standing === "TO_DECIDE" && isDifferent ? "claimDiffers" : TEXTS[standing],
    isGood: standing === "CREDITED",
    sent,
    asked,
  };
}

const TEXTS: Readonly<Record<ClaimStanding, keyof Texts>> = {
  CREDITED: "claimCredited",
  LATE: "claimLate",
  TO_DECIDE: "claimToDecide",
  OTHER_ORDER: "claimOtherOrder",
  SET_ASIDE: "claimNotThis",
  TOO_LITTLE: "claimTooLittle",
  REORGED: "claimReorged",
  DROPPED: "claimReorged",
  NOT_THIS: "claimNotThis",
  NOT_FOUND: "claimNotFound",
  UNAVAILABLE: "claimUnavailable",
  OVER: "claimNotThis",
};
