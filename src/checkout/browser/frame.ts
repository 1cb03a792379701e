// For a shop that shows the page in a frame: how far the payment is, at each change. Only origins that the merchant named may frame it (the
// policy's frame-ancestors), so whoever hears it may.
import { currentMain } from "./page.ts";

/** The result is to be called when the page changed. */
export function startFrame(): () => void {
  let told = "";
  return () => {
    const stage = currentMain()?.dataset.stage ?? "";
    if (window.parent === window || stage === told) return;
    told = stage;
    window.parent.postMessage({ type: "edgetill.checkout", invoiceId: location.pathname.split("/")[2], stage }, "*");
  };
}
