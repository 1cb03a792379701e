// Posts the payment's stage to the shop that shows the page in a frame, at each change. Only origins that the merchant named may frame the page
// (the policy's frame-ancestors), so any parent may receive it.
import { currentMain } from "./page.ts";

/** Call the result when the page has changed. */
export function startFrame(): () => void {
  let lastStage = "";
  return () => {
    const stage = currentMain()?.dataset.stage ?? "";
    if (window.parent === window || stage === lastStage) return;
    lastStage = stage;
    window.parent.postMessage({ type: "edgetill.checkout", invoiceId: location.pathname.split("/")[2], stage }, "*");
  };
}
