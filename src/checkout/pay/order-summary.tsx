import { moneyText } from "../../platform/texts/format.ts";
import type { Chrome } from "./chrome.ts";
import type { CheckoutView, Money } from "./view.ts";

/** Longer descriptions are folded, so that the payment stays visible. */
const LONG_CHARACTERS = 180;

export function OrderSummary(of: {
  readonly chrome: Chrome;
  readonly view: Pick<CheckoutView, "title" | "description" | "imageUrl" | "total"> &
    Partial<Pick<CheckoutView, "received">>;
}) {
  const { title, description, imageUrl, total, received } = of.view;
  const isGiven = total.micros === 0n && received !== undefined;
  return (
    <section class="order" data-part="order" aria-label={of.chrome.texts.receiptItem}>
      {imageUrl === null ? null : <img src={imageUrl} alt="" width="64" height="64" />}
      <div>
        <p class="item">
          <bdi>{title}</bdi>
        </p>
        <Total chrome={of.chrome} total={isGiven ? received : total} />
        {description === null || description === "" ? null : <Description text={description} />}
      </div>
    </section>
  );
}

/** The total price; a price of 0 is shown as "any amount". */
function Total({ chrome, total }: { readonly chrome: Chrome; readonly total: Money }) {
  return (
    <p class="total">{total.micros === 0n ? chrome.texts.anyAmount : <bdi>{moneyText(chrome.language, total)}</bdi>}</p>
  );
}

/** The whole text is in the summary element, so that a screen reader reads all of it whether the element is open or not. */
function Description({ text }: { readonly text: string }) {
  if (text.length <= LONG_CHARACTERS) {
    return (
      <p class="about">
        <bdi>{text}</bdi>
      </p>
    );
  }
  return (
    <details class="about">
      <summary>
        <bdi>{text}</bdi>
      </summary>
    </details>
  );
}
