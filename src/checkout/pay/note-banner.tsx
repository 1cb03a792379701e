import type { Texts } from "../../platform/texts/en.ts";
import { fill } from "../../platform/texts/texts.ts";
import type { Chrome } from "./chrome.ts";
import { networkNames } from "./claim-form.tsx";
import { asksMerchant, type ClaimView } from "./claimed-view.ts";
import type { Note } from "./note.ts";
import { Filled, shopLink } from "./parts.tsx";
import type { CheckoutView } from "./view.ts";

const NOTE_TEXTS: Readonly<Record<Note, keyof Texts>> = {
  "claim-unavailable": "claimUnavailable",
  "claim-invalid": "claimInvalid",
  "claim-too-many": "claimTooMany",
  rate: "problemRate",
  taken: "problemTaken",
  network: "problemNetwork",
  closed: "problemClosed",
  frozen: "problemFrozen",
  "too-many": "problemTooMany",
  other: "problemOther",
};

/** Why the previous form was refused. The script does not replace this text: it stays until the stage changes. */
export function NoteBanner(of: { readonly chrome: Chrome; readonly view: CheckoutView; readonly note: Note | null }) {
  const { chrome, view, note } = of;
  if (note === null) return null;
  const text = fill(chrome.texts[NOTE_TEXTS[note]], { network: networkNames(view) });
  return <p class="note">{text}</p>;
}

/** How the claimed transaction relates to the invoice. The script replaces this text when that changes. */
export function ClaimBanner({ chrome, view }: { readonly chrome: Chrome; readonly view: CheckoutView }) {
  const { claim } = view;
  if (claim === null) return null;
  return (
    <p class={claim.isGood ? "note good" : "note"} data-part="claim">
      <Filled
        text={claimSentence(chrome.texts, claim.text)}
        values={{ ...claimValues(view, claim), shop: shopLink(view.shop) }}
      />
    </p>
  );
}

/** The text of the claim's banner, which the script announces to screen readers when it changes. */
export function claimText({ texts }: Chrome, view: CheckoutView): string | undefined {
  return view.claim === null ? undefined : fill(claimSentence(texts, view.claim.text), claimValues(view, view.claim));
}

/** A text about a transaction. While the merchant has to decide about it, the text also asks its payer not to send again. */
export function claimSentence(texts: Texts, key: keyof Texts): string {
  return asksMerchant(key) ? `${texts[key]} ${texts.claimSentIt}` : texts[key];
}

function claimValues({ shop }: CheckoutView, { sent, asked }: ClaimView) {
  return { shop: shop.name, sent, asked };
}
