import type { Chrome } from "./chrome.ts";
import type { MethodView } from "./method-view.ts";
import { qrPath } from "./qr.ts";

/** The QR code of the address, which every wallet reads, and on a second tab one that also fills in the amount. */
export function QrCodes({ chrome, method }: { readonly chrome: Chrome; readonly method: MethodView }) {
  const { texts } = chrome;
  if (method.uri === method.address)
    return <Code text={method.address} label={texts.qrAddressAlt} class="qr-address" />;
  return (
    <fieldset class="qr">
      <legend class="visually-hidden">{texts.qrLabel}</legend>
      <input type="radio" name="qr" id="qr-address" class="visually-hidden" autocomplete="off" checked />
      <label for="qr-address">{texts.qrAddress}</label>
      <input type="radio" name="qr" id="qr-uri" class="visually-hidden" autocomplete="off" />
      <label for="qr-uri">{texts.qrUri}</label>
      <Code text={method.address} label={texts.qrAddressAlt} class="qr-address" />
      <Code text={method.uri} label={texts.qrUriAlt} class="qr-uri" />
    </fieldset>
  );
}

/**
 * A quiet zone of four modules on each side (ISO/IEC 18004); dark on light in every colour scheme, because scanners read nothing else reliably.
 */
function Code({ text, label, class: name }: { readonly text: string; readonly label: string; readonly class: string }) {
  const { size, path } = qrPath(text);
  const side = size + 8;
  return (
    <svg class={name} role="img" aria-label={label} viewBox={`-4 -4 ${side} ${side}`} shape-rendering="crispEdges">
      <path d={path} stroke="#000" />
    </svg>
  );
}
