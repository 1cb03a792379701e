import { networkNamed } from "../../chains/registry/networks.ts";
import type { Chrome } from "./chrome.ts";
import type { MethodView } from "./method-view.ts";
import { qrPath } from "./qr.ts";

/**
 * Shows the code that most wallets read correctly; the other code is on a second tab. Without an amount the link is no better than the address, so
 * then there is only one code.
 */
export function QrCodes({ chrome, method }: { readonly chrome: Chrome; readonly method: MethodView }) {
  const { texts } = chrome;
  if (method.amount === null || method.uri === method.address)
    return <Code text={method.address} label={texts.qrAddressAlt} class="qr-address" />;
  const tabs = [
    { id: "qr-address", label: texts.qrAddress },
    { id: "qr-uri", label: texts.qrUri },
  ];
  return (
    <fieldset class="qr">
      <legend class="visually-hidden">{texts.qrLabel}</legend>
      {(isLinkRead(method) ? tabs.toReversed() : tabs).map(({ id, label }, nth) => (
        <>
          <input type="radio" name="qr" id={id} class="visually-hidden" autocomplete="off" checked={nth === 0} />
          <label for={id}>{label}</label>
        </>
      ))}
      <Code text={method.address} label={texts.qrAddressAlt} class="qr-address" />
      <Code text={method.uri} label={texts.qrUriAlt} class="qr-uri" />
    </fieldset>
  );
}

/**
 * Whether the code of the payment link comes first: for BIP21, and for ether on Ethereum itself, because wallets read the amount, and a wallet that
 * ignores the rest still sends the same coin to the same address. With a token's EIP-681 link some wallets took the contract for the recipient, and
 * the money was lost (MyEtherWallet issues 3056 and 5185, MetaMask extension 28527). Others ignore the chain (Trezor Suite 26919), and TronLink's
 * scanner accepts only an address (BTCPay Server's USDt plugin, pull request 46).
 */
function isLinkRead({ key, network }: MethodView): boolean {
  return networkNamed(network)?.family === "bitcoin" || key === "ETH_ETH";
}

/**
 * Has a quiet zone of four modules on each side (ISO/IEC 18004). Dark on light in every colour scheme, because scanners read nothing else reliably.
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
