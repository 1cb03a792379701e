import type { Chrome } from "./chrome.ts";
import { Document } from "./document.tsx";
import type { Note } from "./note.ts";
import type { CheckoutView } from "./view.ts";

interface Of {
  readonly chrome: Chrome;
  readonly view: CheckoutView;
  readonly note: Note | null;
}

export function checkoutPage(of: Of) {
  return (
    <Document chrome={of.chrome} title={of.view.title} shop={of.view.shop}>
      {checkoutMain(of)}
    </Document>
  );
}

/** What changes while the page is open. */
export function checkoutMain({ view }: Of) {
  return <main id="checkout" data-stage={view.stage} />;
}
