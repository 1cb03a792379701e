// The form of a product's page, and the resulting order. The limits are those of the API's request.
import * as z from "zod";
import { createInvoiceBody } from "../../commerce/invoices/contract.ts";
import { lazily } from "../../lib/lazily.ts";
import { MICRO_DIGITS, parseUnits } from "../../lib/money.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { currencyDigits, readAmount } from "../../lib/typed-amount.ts";
import { LANGUAGES, type Language } from "../../platform/texts/languages.ts";
import {
  type Asking,
  askedFields,
  type FieldName,
  type Form,
  type Order,
  type Problem,
  type Problems,
  typedFields,
} from "./order.ts";

const field = () => z.string().optional();

/** Accepts any text, so that the page can show problems next to each field. */
export const buyForm = () =>
  z.object({
    token: field().meta({
      description: "Generated each time the form is rendered. Sending the same form again creates nothing new.",
    }),
    email: field().meta({ description: "Email address for the receipt." }),
    name: field().meta({ description: "Required if the product asks for it." }),
    address: field().meta({ description: "Required if the product asks for it." }),
    phone: field().meta({ description: "Required if the product asks for it." }),
    amount: field().meta({
      description: "For a product with price 0: decimal text in its currency. If empty, any amount may be paid.",
    }),
    "cf-turnstile-response": field().meta({
      description: "The token of the page's Turnstile widget, if the deployment uses one.",
    }),
  });

const NAMES = {
  customerEmail: "email",
  customerName: "name",
  customerAddress: "address",
  customerPhoneNumber: "phone",
} as const;

/** Has the same limits as the API's request. */
const orderBody = lazily(createInvoiceBody);

/** The largest amount that a buyer may enter, in whole units of the currency. */
const MOST = 1_000_000n;

/** The order from a form, or its problems by field. `language`: the language of the page on which the form was filled in. */
export function orderOf(product: Asking, form: Form, language: Language): Result<Order, Problems> {
  const typed = typedFields(product, form);
  const problems: Partial<Record<FieldName, Problem>> = {};
  for (const { name, isRequired } of askedFields(product)) {
    if (isRequired && typed[name] === undefined) problems[name] = "required";
  }
  const customer = {
    customerEmail: typed.email,
    customerName: typed.name,
    customerAddress: typed.address,
    customerPhoneNumber: typed.phone,
  };
  const parsed = orderBody().safeParse({ ...customer, productId: "" });
  for (const { path } of parsed.error?.issues ?? []) {
    for (const [member, name] of Object.entries(NAMES)) {
      if (path[0] === member) problems[name] = name === "email" ? "email" : "long";
    }
  }
  const amount = typed.amount === undefined ? undefined : microsTyped(typed.amount, product.currency, language);
  if (amount?.ok === false) problems.amount = amount.error;
  const rawAmount = amount?.ok ? amount.value : undefined;
  return Object.keys(problems).length > 0 ? err(problems) : ok({ ...customer, rawAmount });
}

function microsTyped(text: string, currency: string, language: Language): Result<bigint, Problem> {
  const amount = readAmount(text, {
    locale: LANGUAGES[language].locale,
    digits: currencyDigits(currency),
    most: MOST,
  });
  if (!amount.ok) return err(amount.error.kind === "AMBIGUOUS" ? amount.error : "amount");
  const micros = parseUnits(amount.value, MICRO_DIGITS);
  return micros.ok ? micros : err("amount");
}
