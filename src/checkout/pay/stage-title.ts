import type { Texts } from "../../platform/texts/en.ts";
import type { CheckoutView } from "./view.ts";

/** The heading of a stage, which is also announced when the stage is reached. */
export function stageTitle(texts: Texts, { stage, total }: Pick<CheckoutView, "stage" | "total">): string {
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
