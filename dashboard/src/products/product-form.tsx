// The form for a new or an existing product.
import { Checkbox, Fieldset, Group, TextInput } from "@mantine/core";
import { changedFields } from "../api/changed-fields.ts";
import { listed } from "../api/listed.ts";
import type { CreateProductBody, Product } from "../api/operations.ts";
import { useChange } from "../api/queries.ts";
import { CurrencyField } from "../invoices/currency-field.tsx";
import { fieldText, type NumberRule, numberError, priceRule, wireNumber } from "../shell/amounts.ts";
import { Form, LongText, refusedIn } from "../shell/form.tsx";
import { useMerchant } from "../shell/merchants.ts";
import { NumberField } from "../shell/number-field.tsx";
import { DraftNotice, useDraft } from "../shell/use-draft.tsx";
import { PictureField } from "./picture.tsx";

/** Lengths from the contract (createProductBody). */
const LONGEST = { name: 200, description: 1_000 } as const;

interface Values {
  readonly name: string;
  readonly description: string;
  /** The text as the user typed it. */
  readonly price: string;
  readonly currency: string;
  readonly image: string;
  readonly askForName: boolean;
  readonly askForAddress: boolean;
  readonly askForPhoneNumber: boolean;
}

/** All fields except the picture, which may be larger than a tab can store. */
const KEPT = [
  ...(["name", "description", "price", "currency"] as const),
  ...(["askForName", "askForAddress", "askForPhoneNumber"] as const),
];

const EMPTY: Values = {
  name: "",
  description: "",
  price: "",
  currency: "USD",
  image: "",
  askForName: false,
  askForAddress: false,
  askForPhoneNumber: false,
};

interface Props {
  /** The product to change; undefined for a new one. */
  readonly product?: Product;
  readonly onSaved: (product: Product) => void;
}

export function ProductForm({ product, onSaved }: Props) {
  const { form, draft, send, isBusy } = useProductForm({ product, onSaved });
  return (
    <Form onSubmit={send} action={product === undefined ? "Create product" : "Save"} isBusy={isBusy}>
      <DraftNotice draft={draft} />
      <TextInput label="Name" required maxLength={LONGEST.name} data-autofocus {...form.getInputProps("name")} />
      <Group grow align="flex-start">
        <NumberField
          label="Price"
          hint="0 lets the customer choose."
          required
          rule={priceRule(form.values.currency, product?.price)}
          {...form.getInputProps("price")}
        />
        <CurrencyField {...form.getInputProps("currency")} />
      </Group>
      <LongText label="Description" maxLength={LONGEST.description} {...form.getInputProps("description")} />
      <PictureField
        value={form.values.image}
        error={form.errors.image}
        onChange={(image) => form.setFieldValue("image", image)}
      />
      <Fieldset legend="Ask the buyer for" p="sm">
        <Group>
          <Checkbox label="Name" {...form.getInputProps("askForName", { type: "checkbox" })} />
          <Checkbox label="Address" {...form.getInputProps("askForAddress", { type: "checkbox" })} />
          <Checkbox label="Phone number" {...form.getInputProps("askForPhoneNumber", { type: "checkbox" })} />
        </Group>
      </Fieldset>
    </Form>
  );
}

function useProductForm({ product, onSaved }: Props) {
  const { id: merchantId } = useMerchant();
  const ruleOf = (currency: string) => priceRule(currency, product?.price);
  const { form, draft } = useDraft<Values>({
    name: product === undefined ? "new product" : `product ${product.id}`,
    kept: KEPT,
    initialValues: product === undefined ? EMPTY : valuesOf(product),
    validate: {
      name: (name) => (name.trim() === "" ? "Enter what you sell" : null),
      price: (price, { currency }) => numberError(price, ruleOf(currency), "Enter a price, or 0 for any amount"),
    },
  });
  const onSuccess = (saved: Product) => {
    draft.forget();
    onSaved(saved);
  };
  const create = useChange("createProduct", { isShownInPlace: true, onSuccess });
  const update = useChange("updateProduct", { isShownInPlace: true, onSuccess });
  const send = form.onSubmit((values) => {
    if (product === undefined) {
      create.mutate({ merchantId, body: bodyOf(values, ruleOf(values.currency)) }, refusedIn(form));
      return;
    }
    // Unchanged fields are not sent: the URL of an unchanged picture is one of the service's own, which it would fetch again.
    const before = form.getInitialValues();
    const body = changedFields(bodyOf(before, ruleOf(before.currency)), bodyOf(values, ruleOf(values.currency)));
    if (Object.keys(body).length === 0) onSaved(product);
    else update.mutate({ merchantId, params: { productId: product.id }, body }, refusedIn(form));
  });
  return { form, draft, send, isBusy: create.isPending || update.isPending };
}

function valuesOf({ name, description, price, currency, image, ...flags }: Product): Values {
  const { askForName, askForAddress, askForPhoneNumber } = flags;
  return {
    name,
    description: description ?? "",
    currency,
    image: image ?? "",
    askForName,
    askForAddress,
    askForPhoneNumber,
    price: fieldText(price),
  };
}

function bodyOf(values: Values, rule: NumberRule): CreateProductBody {
  const { name, description, price, currency, image, ...flags } = values;
  return {
    name: name.trim(),
    description: description.trim() || null,
    price: wireNumber(price, rule),
    currency: listed(currency),
    image: image || null,
    ...flags,
  };
}
