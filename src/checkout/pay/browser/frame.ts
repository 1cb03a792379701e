// Posts the payment's stage to a shop that shows the page in a frame, at each change. Only origins that the merchant named may frame it (the
// policy's frame-ancestors), so any parent may hear it.
import { currentMain } from "./page.ts";

/** The result is to be called when the page changed. */
export function startFrame(): () => void {
  let lastStage = "";
  return () => {
    const stage = currentMain()?.dataset.stage ?? "";
    if (window.parent === window || stage === lastStage) return;
    lastStage = stage;
    window.parent.postMessage({ type: "edgetill.checkout", invoiceId: location.pathname.split("/")[2], stage }, "*");
  };
}
