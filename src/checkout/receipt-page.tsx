import type { Chrome } from "./chrome.ts";
import { Document } from "./document.tsx";
import type { CheckoutView } from "./view.ts";

export function receiptPage({ chrome, view }: { readonly chrome: Chrome; readonly view: CheckoutView }) {
  return (
    <Document chrome={chrome} title={view.title} shop={view.shop}>
      <main id="checkout" />
    </Document>
  );
}
