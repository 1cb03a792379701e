import { coinText } from "../../platform/texts/format.ts";
import { fill } from "../../platform/texts/texts.ts";
import type { Chrome } from "./chrome.ts";
import { claimSentence } from "./note-banner.tsx";
import { Filled, Ltr, shopLink } from "./parts.tsx";
import type { CheckoutView, PaymentView } from "./view.ts";

interface Of {
  readonly chrome: Chrome;
  readonly view: Pick<CheckoutView, "payments" | "shop">;
  readonly payment: PaymentView;
}

/** Payments seen on chain, with their state. Rendered even if empty, so that the first payment can be swapped in. */
export function PaymentsList({ chrome, view }: Pick<Of, "chrome" | "view">) {
  const { payments } = view;
  return (
    <section
      class="payments"
      data-part="payments"
      aria-label={payments.length === 0 ? undefined : chrome.texts.payments}
    >
      {payments.length === 0 ? null : (
        <>
          <h2>{chrome.texts.payments}</h2>
          <ul>
            {payments.map((payment) => (
              <Payment chrome={chrome} view={view} payment={payment} />
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

function Payment(of: Of) {
  const { chrome, payment } = of;
  const { texts } = chrome;
  return (
    <li>
      <p class="paid-amount">
        <Ltr>{coinText(payment.amount, payment.code)}</Ltr> <small>{payment.networkName}</small>
      </p>
      <Progress {...of} />
      {payment.isLate ? <p class="hint">{texts.late}</p> : null}
      <p class="hash">
        <span class="visually-hidden">{texts.transaction}</span> <Ltr class="code">{payment.txHash}</Ltr>
      </p>
    </li>
  );
}

function Progress({ chrome, view, payment }: Of) {
  const { texts } = chrome;
  if (payment.state === "undecided") {
    const values = { sent: coinText(payment.amount, payment.code), shop: shopLink(view.shop) };
    return (
      <p class="hint">
        <Filled text={claimSentence(texts, "claimToDecide")} values={values} />
      </p>
    );
  }
  if (payment.state === "gone") return <p class="hint">{texts.gone}</p>;
  if (payment.state === "confirmed") return <p class="good">{texts.confirmed}</p>;
  const required = Math.max(1, payment.requiredConfirmations);
  const count = Math.min(payment.confirmations, required);
  const text = count === 0 ? texts.unconfirmed : fill(texts.confirmations, { count, required });
  return (
    <>
      <progress max={required} value={count} aria-label={fill(texts.confirmations, { count, required })} />
      <p class="hint">{text}</p>
    </>
  );
}
