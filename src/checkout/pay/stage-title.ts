import type { Texts } from "../../platform/texts/en.ts";
import { asksMerchant } from "./claimed-view.ts";
import type { CheckoutView } from "./view.ts";

type Titled = Pick<CheckoutView, "stage" | "total" | "payments" | "claim">;

/** The heading of a stage, which is also announced when the stage is reached. */
export function stageTitle(texts: Texts, view: Titled): string {
  const { stage, total } = view;
  const isToPay = stage === "pay" || stage === "partial" || stage === "underpaid";
  if (isToPay && isToDecide(view)) return texts.undecidedTitle;
  switch (stage) {
    case "unavailable":
      return texts.unavailableTitle;
    case "choose":
      return texts.chooseTitle;
    case "pay":
      return total.micros === 0n ? texts.payAnyTitle : texts.payTitle;
    case "partial":
      return texts.partialTitle;
    case "checking":
      return texts.checkingTitle;
    case "seen":
      return texts.seenTitle;
    case "paid":
      return texts.paidTitle;
    case "overpaid":
      return texts.overpaidTitle;
    case "underpaid":
      return texts.underpaidTitle;
    case "expired":
      return texts.expiredTitle;
    case "cancelled":
      return texts.cancelledTitle;
  }
}

/**
 * Whether something arrived that the merchant has to decide about. Then the page must neither say that nothing did, nor show an amount at once, so
 * that nobody pays twice.
 */
export function isToDecide({ payments, claim }: Pick<CheckoutView, "payments" | "claim">): boolean {
  return (claim !== null && asksMerchant(claim.text)) || payments.some(({ state }) => state === "undecided");
}
