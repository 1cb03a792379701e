import { fill } from "../../platform/texts/texts.ts";
import type { Chrome } from "./chrome.ts";
import { Filled, payLink } from "./parts.tsx";
import type { CheckoutView } from "./view.ts";

/** Long enough to see that the invoice is paid, and to choose to stay. */
const RETURN_SECONDS = 8;

/**
 * Shown once the invoice is paid: the link back to the shop, and the receipt. The page redirects automatically only if exactly the price was paid and
 * every payment is confirmed: a payer who has paid twice must see it here.
 */
export function ReturnLinks({ chrome, view }: { readonly chrome: Chrome; readonly view: CheckoutView }) {
  const { texts } = chrome;
  const receipt = payLink(chrome, view, "/receipt");
  if (!view.canReturn) {
    return (
      <a class="button" href={receipt}>
        {texts.showReceipt}
      </a>
    );
  }
  const back = payLink(chrome, view, "/return");
  const isAutomatic = view.stage === "paid" && view.payments.every(({ state }) => state === "confirmed");
  const automatic = isAutomatic ? { "data-return-url": back, "data-return-seconds": RETURN_SECONDS } : {};
  return (
    <div class="return" {...automatic}>
      <a class="button" href={back} target="_top">
        <Filled text={texts.returnToShop} values={{ shop: view.shop.name }} />
      </a>
      {isAutomatic ? (
        <p class="hint">
          <span data-return-count data-count-text={texts.returning}>
            {fill(texts.returning, { seconds: RETURN_SECONDS })}
          </span>{" "}
          <button type="button" class="plain" data-return-stop hidden>
            {texts.stay}
          </button>
        </p>
      ) : null}
      <a class="button second" href={receipt} data-receipt>
        {texts.showReceipt}
      </a>
    </div>
  );
}
