// Shows a refusal as a page, in words for payers, who do not know our error codes.
import type { Failure } from "../../platform/failures.ts";
import type { Texts } from "../../platform/texts/en.ts";
import { type Chrome, linkTo } from "./chrome.ts";
import { Document } from "./document.tsx";

const TEXTS: Partial<Record<Failure["code"], { readonly status: number; readonly text: keyof Texts }>> = {
  INVOICE_NOT_FOUND: { status: 404, text: "problemNotFound" },
  PRODUCT_NOT_FOUND: { status: 404, text: "problemNotFound" },
  PRODUCT_NOT_AVAILABLE: { status: 410, text: "buyGone" },
  MERCHANT_SUSPENDED: { status: 403, text: "buyGone" },
  RATE_UNAVAILABLE: { status: 503, text: "problemRate" },
  CURRENCY_NOT_PRICED: { status: 409, text: "problemClosed" },
  NETWORK_NOT_WATCHED: { status: 503, text: "problemNetwork" },
  AMOUNTS_EXHAUSTED: { status: 409, text: "problemTaken" },
  PUBLIC_ADDRESS_LIMIT: { status: 409, text: "problemTaken" },
  LIMIT_REACHED: { status: 409, text: "problemTaken" },
  TOO_MANY_ACTIVE_INVOICES: { status: 409, text: "problemTaken" },
  NO_ENABLED_WALLET: { status: 409, text: "problemClosed" },
  UNSUPPORTED_PAIR: { status: 400, text: "problemClosed" },
  ANY_AMOUNT_NEEDS_OWN_ADDRESS: { status: 409, text: "problemClosed" },
  INVOICE_NOT_PAYABLE: { status: 409, text: "problemClosed" },
  WALLET_FROZEN: { status: 409, text: "problemFrozen" },
  RATE_LIMITED: { status: 429, text: "problemTooMany" },
  VALIDATION_FAILED: { status: 400, text: "fieldInvalid" },
  PRIVATE_KEY_REFUSED: { status: 400, text: "fieldInvalid" },
  BODY_TOO_LARGE: { status: 413, text: "fieldInvalid" },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, text: "fieldInvalid" },
  INTERNAL_ERROR: { status: 500, text: "problemOther" },
};

export function problemStatus(failure: Failure): number {
  return TEXTS[failure.code]?.status ?? 503;
}

/** The link back to the invoice's page, if the invoice exists. */
function wayBack({ path }: Chrome, { code }: Failure): string | undefined {
  return code === "INVOICE_NOT_FOUND" ? undefined : /^\/pay\/inv_[0-9A-Z]{26}(?=\/)/.exec(path)?.[0];
}

export function problemPage(chrome: Chrome, failure: Failure) {
  const { texts } = chrome;
  const back = wayBack(chrome, failure);
  const text = texts[TEXTS[failure.code]?.text ?? "problemOther"];
  return (
    <Document chrome={chrome} title={texts.problemTitle} shop={null}>
      <main id="checkout">
        <div class="card heading problem">
          <h1>{texts.problemTitle}</h1>
          <p>{text}</p>
          {back === undefined ? null : (
            <p>
              <a href={linkTo(chrome, back)}>{texts.problemBack}</a>
            </p>
          )}
        </div>
      </main>
    </Document>
  );
}
