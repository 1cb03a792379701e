// A product page with the form that creates an invoice. Needs no script, unless the deployment uses a challenge.

import { raw } from "hono/html";
import { imageUrl } from "../../accounts/images/image.ts";
import type { Product } from "../../commerce/products/product.ts";
import { plainText } from "../../lib/plain-text.ts";
import { amountText, currencyDigits } from "../../lib/typed-amount.ts";
import type { Texts } from "../../platform/texts/en.ts";
import { decimalMoney } from "../../platform/texts/format.ts";
import { LANGUAGES } from "../../platform/texts/languages.ts";
import { fill } from "../../platform/texts/texts.ts";
import { type Chrome, linkTo } from "../pay/chrome.ts";
import { Document } from "../pay/document.tsx";
import { OrderSummary } from "../pay/order-summary.tsx";
import { Field } from "../pay/parts.tsx";
import type { Shop } from "../pay/view.ts";
import { askedFields, type FieldName, type Form, type Problem, type Problems } from "./order.ts";

interface Of {
  readonly chrome: Chrome;
  readonly product: Product;
  readonly shop: Shop;
  readonly token: string;
  /** The earlier input and its problems. */
  readonly form: Form;
  readonly problems: Problems;
  /** Undefined if the deployment uses no challenge. */
  readonly challenge: Widget | undefined;
}

interface Widget {
  readonly siteKey: string;
  readonly origin: string;
  /** Whether the previous form was refused because its token was missing, invalid or could not be verified. */
  readonly hasFailed: boolean;
}

interface Asked {
  readonly label: keyof Texts;
  readonly type?: "email" | "tel";
  readonly inputmode?: "decimal";
  readonly autocomplete: string;
  readonly lines?: number;
  readonly hint?: keyof Texts;
}

/** Labels, keyboards and autofill tokens of the fields (HTML, "Autofill"). */
const FIELDS: Readonly<Record<FieldName, Asked>> = {
  amount: { label: "buyAmount", inputmode: "decimal", autocomplete: "transaction-amount", hint: "buyAmountHint" },
  name: { label: "buyName", autocomplete: "name" },
  email: { label: "buyEmail", type: "email", autocomplete: "email", hint: "buyEmailHint" },
  address: { label: "buyAddress", autocomplete: "street-address", lines: 3 },
  phone: { label: "buyPhone", type: "tel", autocomplete: "tel" },
};

const PROBLEMS = {
  required: "fieldRequired",
  email: "buyEmailInvalid",
  amount: "buyAmountInvalid",
  long: "buyTooLong",
} as const satisfies Readonly<Record<Exclude<Problem, object>, keyof Texts>>;

/** Tells the payer what to enter instead. */
function problemText({ language, texts }: Chrome, problem: Problem, currency: string): string {
  const { locale } = LANGUAGES[language];
  if (typeof problem === "object") {
    const either = new Intl.ListFormat(locale, { type: "disjunction" });
    const readings = problem.readings.map((reading) => decimalMoney(language, reading, currency));
    return `${either.format(readings)}? ${fill(texts.buyAmountInvalid, { example: either.format(problem.instead) })}`;
  }
  const example = currencyDigits(currency) === 0 ? "25" : amountText("12.5", locale);
  return fill(texts[PROBLEMS[problem]], { example });
}

/**
 * If a form is sent to the page's own URL, the browser drops the page from its cache (RFC 9111, 4.4). But "back" must find the page with its token.
 */
const SENT = { sent: "1" };

export function productPage(of: Of) {
  const { chrome, product, shop, token, form, problems, challenge } = of;
  const { texts } = chrome;
  const asked = askedFields(product);
  const first = asked.find(({ name }) => problems[name] !== undefined)?.name;
  const view = {
    title: plainText(product.name),
    description: product.description === null ? null : plainText(product.description),
    imageUrl: product.image === null ? null : imageUrl("", { merchantId: product.merchantId, name: product.image }),
    total: { micros: product.priceMicros, currency: product.currency },
  };
  return (
    <Document
      chrome={chrome}
      title={`${view.title} · ${shop.name}`}
      shop={shop}
      head={challengeHead(chrome, challenge)}
    >
      <main data-stage="buy">
        <OrderSummary chrome={chrome} view={view} />
        <form class="card" method="post" action={linkTo(chrome, `/buy/${product.id}`, SENT)}>
          <h1>{texts.buyTitle}</h1>
          <input type="hidden" name="token" value={token} />
          {asked.map(({ name, isRequired }) => {
            const { label, hint, ...kind } = FIELDS[name];
            const problem = problems[name];
            return (
              <Field
                {...kind}
                id={name}
                name={name}
                label={fill(texts[label], { currency: product.currency })}
                {...(hint === undefined ? {} : { hint: texts[hint] })}
                error={problem === undefined ? undefined : problemText(chrome, problem, product.currency)}
                value={form[name] ?? ""}
                isRequired={isRequired}
                isFocused={name === first}
              />
            );
          })}
          {challenge === undefined ? null : <Challenge chrome={chrome} widget={challenge} />}
          <button type="submit">{texts.buyGo}</button>
        </form>
      </main>
    </Document>
  );
}

/** The card hides empty elements, and the widget's element is empty at first. */
const WIDGET_STYLE = ".card>div.cf-turnstile:empty{display:block}.cf-turnstile{min-height:65px}";

/**
 * Turnstile's widget puts its token into the form. It has no height until its script runs; the reserved height keeps the layout from shifting then.
 */
function challengeHead({ nonce }: Chrome, widget: Widget | undefined) {
  if (widget === undefined) return null;
  return (
    <>
      <style nonce={nonce}>{raw(WIDGET_STYLE)}</style>
      <script src={`${widget.origin}/turnstile/v0/api.js`} nonce={nonce} async defer />
    </>
  );
}

function Challenge({ chrome, widget }: { readonly chrome: Chrome; readonly widget: Widget }) {
  const { language, texts } = chrome;
  return (
    <>
      {widget.hasFailed ? (
        <p class="note" role="alert">
          {texts.buyChallenge}
        </p>
      ) : null}
      <noscript>
        <p class="note">{texts.buyNeedsScript}</p>
      </noscript>
      <div
        class="cf-turnstile"
        data-sitekey={widget.siteKey}
        data-action="buy"
        data-language={language}
        data-size="flexible"
      />
    </>
  );
}
