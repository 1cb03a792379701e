// The script of shops, served as /modal/btcpay.js: plugins for BTCPay Server load it and call `window.btcpay`, whose names are BTCPay's. It shows the payer's
// page in a frame over the shop's page, and passes its messages to the plugin: `loaded`, `close`, and { invoiceId, status }.
//
// Its messages are never a proof of payment. They tell the customer's browser what to show next, and the user of that browser can call the plugin's function
// with any status. What a shop hands out, it hands out after a webhook or after reading the invoice with its key.

type Act = () => void;
type Hear = (event: MessageEvent) => void;

interface Btcpay {
  /** Loads the page of an invoice; it is shown once it reports that it has loaded. */
  readonly showInvoice: (invoiceId: string) => void;
  readonly appendInvoiceFrame: (invoiceId: string) => void;
  readonly appendAndShowInvoiceFrame: (invoiceId: string) => void;
  readonly showFrame: Act;
  readonly hideFrame: Act;
  readonly onModalWillEnter: (act: Act) => void;
  readonly onModalWillLeave: (act: Act) => void;
  readonly onModalReceiveMessage: (hear: Hear) => void;
  /** Where the pages are, e.g. `https://pay.example.com`; without it, where this script came from. */
  readonly setApiUrlPrefix: (prefix: string) => void;
}

declare global {
  interface Window {
    btcpay?: Btcpay;
  }
}

/** WordPress adds a version. */
const OWN_PATH = /\/modal\/btcpay\.js(\?.*)?$/;
/** From the end of a frame's loading to the message of the page in it, on a slow machine. */
const WAIT_MS = 3_000;

function start(): Btcpay {
  const script = document.currentScript;
  let prefix = script instanceof HTMLScriptElement ? script.src.replace(OWN_PATH, "") : location.origin;
  let shown: { readonly frame: HTMLIFrameElement; readonly isThere: Act } | undefined;
  let focused: Element | null = null;
  const told: { enter: Act; leave: Act; hear: Hear } = { enter: () => {}, leave: () => {}, hear: () => {} };

  const append = (invoiceId: string) => {
    shown?.frame.remove();
    const id = encodeURIComponent(invoiceId);
    const frame = frameOf(`${prefix}/invoice?id=${id}&view=modal`);
    // The shop's origin is not among those that the merchant named, or there is no such invoice: the page itself can be seen.
    shown = { frame, isThere: watchLoads(frame, () => location.assign(`${prefix}/i/${id}`)) };
    document.body.append(frame);
  };
  const show = () => {
    if (shown === undefined || shown.frame.style.display === "block") return;
    told.enter();
    focused = document.activeElement;
    shown.frame.style.display = "block";
    shown.frame.focus();
  };
  const hide = () => {
    if (shown === undefined) return;
    told.leave();
    shown.frame.remove();
    shown = undefined;
    if (focused instanceof HTMLElement) focused.focus();
  };

  window.addEventListener("message", (event: MessageEvent<unknown>) => {
    const { data, origin, source } = event;
    // Any window may send a message here. Only messages from our own frame are accepted.
    if (shown === undefined || source !== shown.frame.contentWindow) return;
    if (origin !== new URL(prefix, location.href).origin) return;
    if (data === "loaded") {
      shown.isThere();
      show();
    } else if (data === "close") hide();
    else if (typeof data !== "object" || data === null || !("status" in data) || data.status === undefined) return;
    told.hear(event);
  });

  return {
    showInvoice: append,
    appendInvoiceFrame: append,
    appendAndShowInvoiceFrame: (invoiceId) => {
      append(invoiceId);
      show();
    },
    showFrame: show,
    hideFrame: hide,
    onModalWillEnter: (enter) => void Object.assign(told, { enter }),
    onModalWillLeave: (leave) => void Object.assign(told, { leave }),
    onModalReceiveMessage: (hear) => void Object.assign(told, { hear }),
    setApiUrlPrefix: (to) => {
      prefix = to.replace(/\/+$/, "");
    },
  };
}

/** Over the shop's whole page, and still hidden. */
function frameOf(src: string): HTMLIFrameElement {
  const frame = document.createElement("iframe");
  Object.assign(frame, { src, name: "btcpay", className: "btcpay", title: "Payment", allow: "clipboard-write" });
  const place = { position: "fixed", inset: "0", width: "100%", height: "100%", border: "0", zIndex: "2147483647" };
  Object.assign(frame.style, place, { display: "none" });
  return frame;
}

/** Calls `onSilence` when a page has loaded in the frame but does not report: the browser shows its own page instead of ours. */
function watchLoads(frame: HTMLIFrameElement, onSilence: Act): Act {
  let loads = 0;
  let heard = 0;
  frame.addEventListener("load", () => {
    const expected = ++loads;
    setTimeout(() => {
      if (frame.isConnected && heard < expected) onSilence();
    }, WAIT_MS);
  });
  return () => {
    heard++;
  };
}

// If loaded twice, the functions set by a plugin are kept.
window.btcpay ??= start();

export {};
