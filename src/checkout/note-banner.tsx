import type { Chrome } from "./chrome.ts";
import { networkNames } from "./claim-form.tsx";
import type { Note } from "./note.ts";
import type { Texts } from "./texts/en.ts";
import { fill } from "./texts.ts";
import type { CheckoutView } from "./view.ts";

const NOTE_TEXTS: Readonly<Record<Note, keyof Texts>> = {
  "claim-found": "claimFound",
  "claim-not-found": "claimNotFound",
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

/** What came of the form before. No part that is swapped: it stands until the stage changes. */
export function NoteBanner(of: { readonly chrome: Chrome; readonly view: CheckoutView; readonly note: Note | null }) {
  const { chrome, view, note } = of;
  if (note === null) return null;
  const text = fill(chrome.texts[NOTE_TEXTS[note]], { network: networkNames(view) });
  return <p class={note === "claim-found" ? "note good" : "note"}>{text}</p>;
}
