import type { Texts } from "../../platform/texts/en.ts";
import { fill } from "../../platform/texts/texts.ts";
import type { Chrome } from "./chrome.ts";
import { networkNames } from "./claim-form.tsx";
import type { Note } from "./note.ts";
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

/** The result of the form sent before. The script does not swap it: it stays until the stage changes. */
export function NoteBanner(of: { readonly chrome: Chrome; readonly view: CheckoutView; readonly note: Note | null }) {
  const { chrome, view, note } = of;
  if (note === null) return null;
  const text = fill(chrome.texts[NOTE_TEXTS[note]], { network: networkNames(view) });
  return <p class={note === "claim-found" ? "note good" : "note"}>{text}</p>;
}
