import { Group, Select, TextInput } from "@mantine/core";
import { isEmail } from "@mantine/form";
import { useNavigate } from "@tanstack/react-router";
import { listed } from "../api/listed.ts";
import type { CreateInvoiceBody, Product } from "../api/operations.ts";
import { showDone, useChange } from "../api/queries.ts";
import { fieldText, numberError, priceRule, wireNumber } from "../shell/amounts.ts";
import { Form, type Inputs, LongText, refusedIn } from "../shell/form.tsx";
import { useMay, useMerchant } from "../shell/merchants.ts";
import { NumberField } from "../shell/number-field.tsx";
import { DraftNotice, useDraft } from "../shell/use-draft.tsx";
import { CustomerField, MethodsField, ProductField } from "./choices.tsx";
import { ContactFields } from "./contact-fields.tsx";
import { CurrencyField } from "./currency-field.tsx";
import { LONGEST } from "./longest.ts";
import { useWalletPairs } from "./wallet-pairs.ts";

/** An invoice's lifetime; "" is the lifetime in the settings. */
const LIFETIMES = [
  { value: "", label: "Default from settings" },
  { value: "900", label: "15 minutes" },
  { value: "3600", label: "1 hour" },
  { value: "86400", label: "1 day" },
  { value: "604800", label: "7 days" },
  { value: "2592000", label: "30 days" },
];

interface Values {
  readonly productId: string;
  readonly name: string;
  /** The text as the user typed it. */
  readonly rawAmount: string;
  readonly currency: string;
  readonly customerEmail: string;
  readonly customerName: string;
  readonly externalId: string;
  readonly description: string;
  readonly expiresInSeconds: string;
  /** `USDT on ETH` */
  readonly methods: readonly string[];
}

const KEPT = [
  ...(["productId", "name", "rawAmount", "currency", "customerEmail", "customerName"] as const),
  ...(["externalId", "description", "expiresInSeconds", "methods"] as const),
];

const EMPTY: Values = {
  productId: "",
  name: "",
  rawAmount: "",
  currency: "USD",
  customerEmail: "",
  customerName: "",
  externalId: "",
  description: "",
  expiresInSeconds: "",
  methods: [],
};

/** After creating an invoice, opens its page. */
export function NewInvoiceForm() {
  const { form, draft, send, isBusy } = useNewInvoice();
  const maySeeProducts = useMay("product:view");
  const maySeeCustomers = useMay("customer:view");
  const { pairs } = useWalletPairs();
  const { values } = form;
  return (
    <Form onSubmit={send} action="Create invoice" isBusy={isBusy}>
      <DraftNotice draft={draft} />
      {maySeeProducts && (
        <ProductField
          value={values.productId}
          onChosen={(product) => form.setValues({ productId: product?.id ?? "", ...(product && soldAs(product)) })}
        />
      )}
      <TextInput
        label="Name"
        description="What the customer sees, such as Order 1001."
        maxLength={LONGEST.name}
        required
        data-autofocus
        {...form.getInputProps("name")}
      />
      <Group grow align="flex-start">
        <NumberField
          label="Amount"
          hint="0 lets the customer choose."
          required
          rule={priceRule(values.currency)}
          {...form.getInputProps("rawAmount")}
        />
        <CurrencyField {...form.getInputProps("currency")} />
      </Group>
      {maySeeCustomers && (
        <CustomerField
          onChosen={({ email, name }) => form.setValues({ customerEmail: email ?? "", customerName: name ?? "" })}
        />
      )}
      <ContactFields form={form} />
      <OrderFields form={form} />
      {pairs.length > 1 && (
        <MethodsField
          pairs={pairs}
          value={values.methods}
          onChange={(methods) => form.setFieldValue("methods", methods)}
        />
      )}
      <LongText label="Description" maxLength={LONGEST.description} {...form.getInputProps("description")} />
    </Form>
  );
}

/** The initial values of an invoice for a product. */
function soldAs({ name, currency, price }: Product) {
  return { name, currency, rawAmount: fieldText(price) };
}

/** The fields about the shop's own order. */
function OrderFields({ form }: { readonly form: Inputs<"externalId" | "expiresInSeconds"> }) {
  return (
    <Group grow align="flex-start">
      <TextInput label="Order number" maxLength={LONGEST.externalId} {...form.getInputProps("externalId")} />
      <Select
        label="Expires after"
        data={LIFETIMES}
        allowDeselect={false}
        {...form.getInputProps("expiresInSeconds")}
      />
    </Group>
  );
}

function useNewInvoice() {
  const { id: merchantId } = useMerchant();
  const navigate = useNavigate();
  const { form, draft } = useDraft<Values>({
    name: "new invoice",
    kept: KEPT,
    initialValues: EMPTY,
    validate: {
      name: (name) => (name.trim() === "" ? "Enter what the customer is paying for" : null),
      rawAmount: (amount, { currency }) =>
        numberError(amount, priceRule(currency), "Enter an amount, or 0 for any amount"),
      customerEmail: (email) => (email === "" ? null : isEmail("Enter an email address, or leave this empty")(email)),
    },
  });
  const create = useChange("createInvoice", {
    isShownInPlace: true,
    onSuccess: ({ id: invoiceId }) => {
      draft.forget();
      showDone("Invoice created.");
      void navigate({ to: "/console/$merchantId/invoices/$invoiceId", params: { merchantId, invoiceId } });
    },
  });
  const send = form.onSubmit((values) => create.mutate({ merchantId, body: bodyOf(values) }, refusedIn(form)));
  return { form, draft, send, isBusy: create.isPending };
}

function bodyOf(values: Values): CreateInvoiceBody {
  const { name, rawAmount, currency, expiresInSeconds, methods, ...optional } = values;
  const given = Object.entries(optional).filter(([, text]) => text.trim() !== "");
  const paymentMethods = methods.map((label) => {
    const [cryptocurrency = "", network = ""] = label.split(" on ");
    return { cryptocurrency, network };
  });
  return {
    name: name.trim(),
    rawAmount: wireNumber(rawAmount, priceRule(currency)),
    currency: listed(currency),
    ...Object.fromEntries(given.map(([field, text]) => [field, text.trim()])),
    ...(expiresInSeconds === "" ? {} : { expiresInSeconds: Number(expiresInSeconds) }),
    ...(paymentMethods.length === 0 ? {} : { paymentMethods }),
  };
}
