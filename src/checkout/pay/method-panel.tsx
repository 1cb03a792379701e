// Everything needed to pay: the QR code, then the amount, the address and the warnings, which are next to the code on a wide screen. The parts that a
// new rate changes can be swapped separately.

import { networkNamed } from "../../chains/registry/networks.ts";
import { addressGroups, decimalMoney, timeText } from "../../platform/texts/format.ts";
import type { Chrome } from "./chrome.ts";
import { CoinMark } from "./coin-mark.tsx";
import type { MethodView } from "./method-view.ts";
import { CopyButton, Filled, Ltr, networkText, payLink } from "./parts.tsx";
import { QrCodes } from "./qr-code.tsx";
import type { CheckoutView } from "./view.ts";

interface Of {
  readonly chrome: Chrome;
  readonly view: CheckoutView;
  readonly method: MethodView;
}

export function MethodPanel(of: Of & { readonly hasDeadline: boolean }) {
  const { texts } = of.chrome;
  const { method } = of;
  return (
    <>
      <Way {...of} />
      {of.view.isUnwatched ? (
        <p class="warning">
          <Filled text={texts.unwatched} values={{ network: method.networkName }} />
        </p>
      ) : null}
      <div class="send">
        <div data-part="codes">
          <QrCodes chrome={of.chrome} method={method} />
        </div>
        <div class="details">
          <div class="facts">
            <div data-part="amount">{method.amount === null ? null : <Amount {...of} amount={method.amount} />}</div>
            <Address {...of} />
            {of.hasDeadline ? <Deadline chrome={of.chrome} method={method} /> : null}
          </div>
          <p class="warning">
            <Filled
              text={isNetworkClear(method) ? texts.warnCoin : texts.warnNetwork}
              values={{ coin: method.coin, network: networkText(method) }}
            />
          </p>
          <a class="button" data-part="open" href={method.uri}>
            {texts.openInWallet}
          </a>
        </div>
        {/* The wallets come last, so that nothing moves when the script adds their buttons: on a wide screen there is room below the code. */}
        <Wallets {...of} />
      </div>
    </>
  );
}

/**
 * Whether the coin's name is also the network's name, and the coin cannot be sent to this address on another network. On EVM the same address exists
 * on every network.
 */
function isNetworkClear({ coin, networkName, network }: MethodView): boolean {
  return coin === networkName && networkNamed(network)?.family !== "evm";
}

/** Hints for the payer while something is still due. */
export function Hints(of: Of) {
  const { texts } = of.chrome;
  return (
    <p class="hint">
      {of.method.amount !== null && of.method.isShared ? (
        <>
          <Filled text={texts.warnExact} values={{ shop: of.view.shop.name }} />{" "}
        </>
      ) : null}
      {of.method.amount === null ? null : `${texts.warnFees} `}
      <Confirmations {...of} />
    </p>
  );
}

/** The coin and network, with a link to choose another one. */
function Way({ chrome, view, method }: Of) {
  return (
    <p class="chosen">
      <span>
        <CoinMark code={method.code} /> <b>{method.coin}</b>{" "}
        {method.coin === method.networkName ? null : (
          <Filled text={chrome.texts.onNetwork} values={{ network: networkText(method) }} />
        )}
      </span>
      {view.canChoose ? <a href={payLink(chrome, view, "", { choose: "1" })}>{chrome.texts.changeMethod}</a> : null}
    </p>
  );
}

function Amount({ chrome, view, method, amount }: Of & { readonly amount: string }) {
  const { texts } = chrome;
  return (
    <div class="fact">
      <h2>{texts.amount}</h2>
      <CopyButton chrome={chrome} text={amount} label={texts.copyAmount} said={texts.amountCopied} />
      <p class="amount">
        <Ltr>
          <span>{amount}</span> {method.code}
        </Ltr>
      </p>
      {method.rate === null ? null : (
        <p class="hint">
          <Ltr>{`1 ${method.code} = ${decimalMoney(chrome.language, method.rate, view.total.currency)}`}</Ltr>
        </p>
      )}
    </div>
  );
}

/** The whole address, in groups of four that the style separates, so that copied text has no spaces. */
function Address({ chrome, method }: Of) {
  const { texts } = chrome;
  return (
    <div class="fact">
      <h2>{texts.address}</h2>
      <CopyButton chrome={chrome} text={method.address} label={texts.copyAddress} said={texts.addressCopied} />
      <p class="address">
        <Ltr>
          {addressGroups(method.address).map((group) => (
            <span>{group}</span>
          ))}
        </Ltr>
      </p>
    </div>
  );
}

/** How long the amount is valid, and what happens then. */
function Deadline({ chrome, method }: Pick<Of, "chrome" | "method">) {
  const { texts } = chrome;
  return (
    <div class="fact" data-part="deadline">
      <h2>{texts.timeLeft}</h2>
      <p>
        <time data-deadline={method.deadlineMs} datetime={new Date(method.deadlineMs).toISOString()}>
          {timeText(chrome.language, method.deadlineMs)}
        </time>
      </p>
      <p class="hint">{method.atDeadline === "requote" ? texts.atRequote : texts.atExpiry}</p>
    </div>
  );
}

function Confirmations({ chrome, method }: Of) {
  const count = method.requiredConfirmations;
  const { confirmationNeeded, confirmationsNeeded } = chrome.texts;
  const text = count === 1 ? confirmationNeeded : confirmationsNeeded;
  return <Filled text={text} values={{ count: String(count), minutes: String(method.minutes) }} />;
}

/** The element to which the script adds the buttons of browser wallets; the script also fills in `{wallet}`. */
function Wallets({ chrome, method }: Of) {
  const { texts } = chrome;
  // Present even if empty, so that a later version with content can replace it.
  if (method.transfer === null) return <div data-part="wallets" />;
  return (
    <div
      class="wallets"
      data-part="wallets"
      data-wallets={JSON.stringify(method.transfer)}
      data-pay-with={texts.payWith}
      data-waiting={texts.walletWaiting}
      data-sent={texts.walletSent}
      data-rejected={texts.walletRejected}
      data-unclear={texts.walletUnclear}
      data-changed={texts.walletChanged}
      data-wrong-network={texts.walletWrongNetwork.replaceAll("{network}", method.networkName)}
      hidden
    >
      <p data-wallet-status class="hint" />
    </div>
  );
}

/** Advice for payers who withdraw from an exchange. */
export function ExchangeHelp({ chrome, method }: Pick<Of, "chrome" | "method">) {
  const { texts } = chrome;
  return (
    <details>
      <summary>{texts.exchangeTitle}</summary>
      <ul>
        {method.amount === null ? null : (
          <li data-part="exchange">
            <Filled text={texts.exchangeArrive} values={{ amount: method.amount, coin: method.code }} />
          </li>
        )}
        <li>
          <Filled text={texts.exchangeNetwork} values={{ network: networkText(method) }} />
        </li>
        <li>{texts.exchangeTime}</li>
      </ul>
    </details>
  );
}
