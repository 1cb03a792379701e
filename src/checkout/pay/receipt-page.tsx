import type { Child } from "hono/jsx";
import { coinText, moneyText } from "../../platform/texts/format.ts";
import { fill } from "../../platform/texts/texts.ts";
import type { Chrome } from "./chrome.ts";
import { Document } from "./document.tsx";
import { Filled, Ltr, Moment, payLink } from "./parts.tsx";
import { stageTitle } from "./stage-title.ts";
import type { CheckoutView } from "./view.ts";

interface Of {
  readonly chrome: Chrome;
  readonly view: CheckoutView;
}

/** The receipt page, which prints on one sheet, black on white. */
export function receiptPage({ chrome, view }: Of) {
  const { texts } = chrome;
  return (
    <Document chrome={chrome} title={fill(texts.receiptFrom, { shop: view.shop.name })} shop={view.shop}>
      <main id="checkout" class="receipt">
        <div class="card">
          {view.paidAtMs === null ? <None chrome={chrome} /> : <Receipt chrome={chrome} view={view} />}
        </div>
        <p class="actions">
          <button type="button" class="button" data-print hidden>
            {texts.receiptPrint}
          </button>
          <a class="button second" href={payLink(chrome, view)}>
            {texts.receiptBack}
          </a>
        </p>
      </main>
    </Document>
  );
}

function None({ chrome }: Pick<Of, "chrome">) {
  return (
    <>
      <h1>{chrome.texts.receiptTitle}</h1>
      <p>{chrome.texts.receiptNone}</p>
    </>
  );
}

function Receipt({ chrome, view }: Of) {
  const { texts, language } = chrome;
  const amount = view.received.micros > 0n ? view.received : view.total;
  return (
    <>
      <h1>
        <Filled text={texts.receiptFrom} values={{ shop: view.shop.name }} />
      </h1>
      <p class="total">
        <bdi>{moneyText(language, amount)}</bdi>
      </p>
      <dl>
        <Line label={texts.receiptItem}>
          <bdi>{view.title}</bdi>
        </Line>
        <Line label={texts.receiptStatus}>{stageTitle(texts, view)}</Line>
        {view.paidAtMs === null ? null : (
          <Line label={texts.receiptPaidAt}>
            <Moment chrome={chrome} ms={view.paidAtMs} />
          </Line>
        )}
        {view.total.micros === 0n || view.total.micros === amount.micros ? null : (
          <Line label={texts.total}>
            <bdi>{moneyText(language, view.total)}</bdi>
          </Line>
        )}
        {view.payments
          .filter(({ state }) => state === "confirmed")
          .map((payment) => (
            <Line label={texts.receiptReceived}>
              <Ltr>{coinText(payment.amount, payment.code)}</Ltr>{" "}
              <small>
                {payment.networkName}
                {payment.isLate ? `. ${texts.late}` : null}
              </small>
              <br />
              <Ltr class="code">{payment.txHash}</Ltr>
            </Line>
          ))}
        <Line label={texts.invoiceId}>
          <Ltr class="code">{view.invoiceId}</Ltr>
        </Line>
      </dl>
    </>
  );
}

function Line({ label, children }: { readonly label: string; readonly children?: Child }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}
