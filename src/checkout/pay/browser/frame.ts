// Posts the payment's stage to the shop that shows the page in a frame, at each change. Only origins that the merchant named may frame the page (the
// policy's frame-ancestors), so any parent may receive it. In the frame of /modal/btcpay.js (view=modal) it also posts what that script and plugins
// of shops expect: `loaded`, `close`, and a `status`. None of it proves a payment: the shop's page could send the same messages.
import { all, currentMain, onPress, unhide } from "./page.ts";

const CLOSE = "[data-close]";

/** Call the returned function when the page has changed. */
export function startFrame(): () => void {
  const { parent } = window;
  if (parent === window) return () => {};
  let lastStage = "";
  const tell = (message: unknown) => parent.postMessage(message, "*");
  if (all(CLOSE).length > 0) {
    unhide(CLOSE);
    onPress(CLOSE, () => tell("close"));
    tell("loaded");
  }
  return () => {
    const { stage = "", status } = currentMain()?.dataset ?? {};
    if (stage === lastStage) return;
    lastStage = stage;
    tell({ type: "edgetill.checkout", invoiceId: location.pathname.split("/")[2], stage, status });
  };
}
