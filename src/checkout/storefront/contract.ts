// The form of a product's page, and the order that it makes. The bounds are those of the interface's request.
import * as z from "zod";
import { createInvoiceBody } from "../../commerce/invoices/contract.ts";
import { lazily } from "../../lib/lazily.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { type Asking, askedFields, type FieldName, type Order, type Problem, type Problems } from "./order.ts";
import { typedAmount } from "./typed-amount.ts";

const field = () => z.string().optional();

/** Accepts any text: the page shows what is wrong beside its field. */
export const buyForm = () =>
  z.object({
    token: field().meta({
      description: "Created with each rendering of the form, so that sending the form again creates nothing new.",
    }),
    email: field().meta({ description: "Email address for the receipt." }),
    name: field().meta({ description: "Required if the product asks for it." }),
    address: field().meta({ description: "Likewise." }),
    phone: field().meta({ description: "Likewise." }),
    amount: field().meta({
      description: "For a product with price 0: decimal text in its currency. If empty, any amount may be paid.",
    }),
  });
export type BuyForm = z.output<ReturnType<typeof buyForm>>;

/** The trimmed input of the fields that the product asks for; ignores other fields. */
export function typedFields(product: Asking, form: BuyForm): Readonly<Partial<Record<FieldName, string>>> {
  const filled = askedFields(product).map(({ name }) => [name, (form[name] ?? "").trim()] as const);
  return Object.fromEntries(filled.filter(([, text]) => text !== ""));
}

const NAMES = {
  customerEmail: "email",
  customerName: "name",
  customerAddress: "address",
  customerPhoneNumber: "phone",
} as const;

/** The bounds of the interface's request. */
const orderBody = lazily(createInvoiceBody);

/** The order that a form makes, or what is wrong with which field. */
export function orderOf(product: Asking, form: BuyForm): Result<Order, Problems> {
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
  const rawAmount = typed.amount === undefined ? undefined : typedAmount(typed.amount);
  if (typed.amount !== undefined && rawAmount === undefined) problems.amount = "amount";
  return Object.keys(problems).length > 0 ? err(problems) : ok({ ...customer, rawAmount });
}
