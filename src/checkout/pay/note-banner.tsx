import type { Texts } from "../../platform/texts/en.ts";
import { fill } from "../../platform/texts/texts.ts";
import type { Chrome } from "./chrome.ts";
import { networkNames } from "./claim-form.tsx";
import type { ClaimView } from "./claimed-view.ts";
import type { Note } from "./note.ts";
import { Filled } from "./parts.tsx";
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

/** Why the previous form was refused. The script does not swap it: it stays until the stage changes. */
export function NoteBanner(of: { readonly chrome: Chrome; readonly view: CheckoutView; readonly note: Note | null }) {
  const { chrome, view, note } = of;
  if (note === null) return null;
  const text = fill(chrome.texts[NOTE_TEXTS[note]], { network: networkNames(view) });
  return <p class="note">{text}</p>;
}

/** What the claimed transaction is to the invoice; the script swaps it when that changes. */
export function ClaimBanner({ chrome, view }: { readonly chrome: Chrome; readonly view: CheckoutView }) {
  const { claim } = view;
  if (claim === null) return null;
  return (
    <p class={claim.isGood ? "note good" : "note"} data-part="claim">
      <Filled text={chrome.texts[claim.text]} values={claimValues(view, claim)} />
    </p>
  );
}

/** The same for screen readers: the script announces a change. */
export function claimText({ texts }: Chrome, view: CheckoutView): string | undefined {
  return view.claim === null ? undefined : fill(texts[view.claim.text], claimValues(view, view.claim));
}

function claimValues({ shop }: CheckoutView, { sent, asked }: ClaimView) {
  return { shop: shop.name, sent, asked };
}
