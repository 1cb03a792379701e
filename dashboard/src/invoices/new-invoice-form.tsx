import { Button, Group, Select, Stack, Textarea, TextInput } from "@mantine/core";
import { isEmail } from "@mantine/form";
import { useNavigate } from "@tanstack/react-router";
import { fieldErrors } from "../api/errors.ts";
import type { CreateInvoiceBody } from "../api/operations.ts";
import { showDone, showError, useChange } from "../api/queries.ts";
import { fieldText, numberError, priceRule, wireNumber } from "../shell/amounts.ts";
import { useMay, useMerchant } from "../shell/merchants.ts";
import { NumberField } from "../shell/number-field.tsx";
import { DraftNotice, useDraft } from "../shell/use-draft.tsx";
import { CustomerField, MethodsField, ProductField } from "./choices.tsx";
import { CURRENCIES } from "./currencies.ts";
import { LONGEST } from "./longest.ts";
import { useWalletPairs } from "./wallet-pairs.ts";

/** How long an invoice waits; "" is as long as the settings say. */
const LIFETIMES = [
  { value: "", label: "As in the settings" },
  { value: "900", label: "15 minutes" },
  { value: "3600", label: "1 hour" },
  { value: "86400", label: "1 day" },
  { value: "604800", label: "7 days" },
  { value: "2592000", label: "30 days" },
];

interface Values {
  readonly productId: string;
  readonly name: string;
  /** As it was typed. */
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

/** Leads to the invoice that it creates. */
export function NewInvoiceForm() {
  const merchant = useMerchant();
  const navigate = useNavigate();
  const maySeeProducts = useMay("product:view");
  const maySeeCustomers = useMay("customer:view");
  const { pairs } = useWalletPairs();
  const { form, draft } = useDraft<Values>({
    name: "new invoice",
    kept: KEPT,
    initialValues: EMPTY,
    validate: {
      name: (name) => (name.trim() === "" ? "Enter what the customer pays for" : null),
      rawAmount: (amount, { currency }) =>
        numberError(amount, priceRule(currency), "Enter an amount, or 0 for any amount"),
      customerEmail: (email) => (email === "" ? null : isEmail("Enter an email address, or none")(email)),
    },
  });
  const create = useChange("createInvoice", {
    isShownInPlace: true,
    onSuccess: ({ id }) => {
      draft.forget();
      showDone("The invoice was created.");
      void navigate({
        to: "/console/$merchantId/invoices/$invoiceId",
        params: { merchantId: merchant.id, invoiceId: id },
      });
    },
  });
  const send = (values: Values) =>
    create.mutate(
      { merchantId: merchant.id, body: bodyOf(values) },
      {
        onError: (error) => {
          form.setErrors(fieldErrors(error));
          showError(error);
        },
      },
    );
  const { values } = form;
  return (
    <form onSubmit={form.onSubmit(send)} noValidate>
      <Stack>
        <DraftNotice draft={draft} />
        {maySeeProducts && (
          <ProductField
            value={values.productId}
            onChosen={(product) =>
              form.setValues({
                productId: product?.id ?? "",
                ...(product === undefined ? {} : { name: product.name, currency: product.currency }),
                ...(product === undefined ? {} : { rawAmount: fieldText(product.price) }),
              })
            }
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
          <Select
            label="Currency"
            data={[...new Set([...CURRENCIES, values.currency])]}
            searchable
            allowDeselect={false}
            {...form.getInputProps("currency")}
          />
        </Group>
        {maySeeCustomers && (
          <CustomerField
            onChosen={({ email, name }) => form.setValues({ customerEmail: email ?? "", customerName: name ?? "" })}
          />
        )}
        <Group grow align="flex-start">
          <TextInput label="Customer's email" type="email" {...form.getInputProps("customerEmail")} />
          <TextInput label="Customer's name" maxLength={LONGEST.customerName} {...form.getInputProps("customerName")} />
        </Group>
        <Group grow align="flex-start">
          <TextInput label="Order number" maxLength={LONGEST.externalId} {...form.getInputProps("externalId")} />
          <Select
            label="Expires after"
            data={LIFETIMES}
            allowDeselect={false}
            {...form.getInputProps("expiresInSeconds")}
          />
        </Group>
        {pairs.length > 1 && (
          <MethodsField
            pairs={pairs}
            value={values.methods}
            onChange={(methods) => form.setFieldValue("methods", methods)}
          />
        )}
        <Textarea
          label="Description"
          autosize
          minRows={2}
          maxLength={LONGEST.description}
          {...form.getInputProps("description")}
        />
        <Group justify="flex-end">
          <Button type="submit" loading={create.isPending}>
            Create the invoice
          </Button>
        </Group>
      </Stack>
    </form>
  );
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
    currency: currency as CreateInvoiceBody["currency"],
    ...Object.fromEntries(given.map(([field, text]) => [field, text.trim()])),
    ...(expiresInSeconds === "" ? {} : { expiresInSeconds: Number(expiresInSeconds) }),
    ...(paymentMethods.length === 0 ? {} : { paymentMethods }),
  };
}
