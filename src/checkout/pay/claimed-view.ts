// The claim that a page is about: the sentence that the page shows, and the values in it. The sentence is chosen again at each read, so that it stays
// true when the invoice changes.
import type { InvoiceFile } from "../../commerce/invoice-records/invoice.ts";
import type { MethodBody } from "../../commerce/invoices/invoice-body.ts";
import { type ClaimStanding, type StandingFacts, standingOf } from "../../detection/claims/standing.ts";
import type { ClaimId } from "../../lib/ids.ts";
import { MINUTE_MS } from "../../lib/time.ts";
import type { Texts } from "../../platform/texts/en.ts";
import { coinText } from "../../platform/texts/format.ts";

/** After this time a transaction that is still not found is more likely wrong than slow: an exchange sends within minutes as a rule. */
const OVERDUE_MS = 30 * MINUTE_MS;

export interface ClaimView {
  readonly id: ClaimId;
  readonly text: keyof Texts;
  /** Whether the payer has nothing left to do. */
  readonly isGood: boolean;
  /**
   * The amount that the transaction paid, and the amount that the invoice asks for in the same coin: `40 USDC`; "" if the text does not include it.
   */
  readonly sent: string;
  readonly asked: string;
}

export interface ClaimFacts extends Pick<StandingFacts, "claimed"> {
  readonly claim: (StandingFacts["claim"] & { readonly id: ClaimId }) | null;
}

export function claimView(
  facts: ClaimFacts & {
    readonly file: InvoiceFile;
    /** Includes the amounts that are still due. */
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
  // A network that has not been read since the claim says nothing about it.
  const isRead = file.cursors.some(
    ({ network, passedMs }) => network === claim.network && passedMs > claim.createdAtMs,
  );
  const isOverdue = isRead && nowMs - claim.createdAtMs >= OVERDUE_MS;
  return {
    id: claim.id,
    text: textOf(standing, { isDifferent, isOverdue }),
    isGood: standing === "CREDITED",
    sent,
    asked,
  };
}

function textOf(standing: ClaimStanding, of: { readonly isDifferent: boolean; readonly isOverdue: boolean }) {
  if (standing === "TO_DECIDE" && of.isDifferent) return "claimDiffers";
  return standing === "NOT_FOUND" && of.isOverdue ? "claimStillNotFound" : TEXTS[standing];
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

/** Whether the text says that the merchant has to decide about the transaction. */
export function asksMerchant(text: keyof Texts): boolean {
  return text === "claimToDecide" || text === "claimDiffers";
}
