// The script for shops, served as /modal/btcpay.js: plugins for BTCPay Server load it and call `window.btcpay`, whose members have the names that
// BTCPay uses. It shows the payer's page in a frame over the shop's page, and passes its messages to the plugin: `loaded`, `close`, and { invoiceId,
// status }.
//
// Its messages are never a proof of payment. They tell the customer's browser what to show next, and the user of that browser can call the plugin's
// function with any status. A shop must deliver only after a webhook, or after reading the invoice with its key.

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
  /** Sets the URL from which the pages are served, e.g. `https://pay.example.com`; by default the one from which this script was loaded. */
  readonly setApiUrlPrefix: (prefix: string) => void;
}

declare global {
  interface Window {
    btcpay?: Btcpay;
  }
}

/** WordPress adds a version to the query. */
const OWN_PATH = /\/modal\/btcpay\.js(\?.*)?$/;
/** How long the page in a frame may take to report after the frame has loaded, on a slow machine. */
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
    // The frame sends no message if there is no such invoice or the merchant did not allow the shop's origin. Then the window opens the page itself.
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

/** A frame that covers the shop's whole page and is still hidden. */
function frameOf(src: string): HTMLIFrameElement {
  const frame = document.createElement("iframe");
  Object.assign(frame, { src, name: "btcpay", className: "btcpay", title: "Payment", allow: "clipboard-write" });
  const place = { position: "fixed", inset: "0", width: "100%", height: "100%", border: "0", zIndex: "2147483647" };
  Object.assign(frame.style, place, { display: "none" });
  return frame;
}

/** Calls `onSilence` if the frame has loaded but its page sends no message, because the browser shows an error page instead of ours. */
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

// If the script is loaded twice, the functions that a plugin has set are kept.
window.btcpay ??= start();

export {};
