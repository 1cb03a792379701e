import { fill } from "../../platform/texts/texts.ts";
import type { Chrome } from "./chrome.ts";
import { Filled, payLink } from "./parts.tsx";
import type { CheckoutView } from "./view.ts";

/** Long enough to see that the invoice is paid, and to choose to stay. */
const RETURN_SECONDS = 8;

/** Shown once the invoice is paid: the link back to the shop, with an automatic redirect, and the receipt. */
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
  return (
    <div class="return" data-return-url={back} data-return-seconds={RETURN_SECONDS}>
      <a class="button" href={back} target="_top">
        <Filled text={texts.returnToShop} values={{ shop: view.shop.name }} />
      </a>
      <p class="hint">
        <span data-return-count data-count-text={texts.returning}>
          {fill(texts.returning, { seconds: RETURN_SECONDS })}
        </span>{" "}
        <button type="button" class="plain" data-return-stop hidden>
          {texts.stay}
        </button>
      </p>
      <a class="button second" href={receipt} data-receipt>
        {texts.showReceipt}
      </a>
    </div>
  );
}
