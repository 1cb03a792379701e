import { Button, Group, Modal, NumberInput, Select, Stack, Textarea, TextInput } from "@mantine/core";
import { isEmail, useForm } from "@mantine/form";
import { useNavigate } from "@tanstack/react-router";
import { fieldErrors } from "../api/errors.ts";
import type { CreateInvoiceBody } from "../api/operations.ts";
import { showDone, showError, useChange } from "../api/queries.ts";
import { useMerchant } from "../shell/merchants.ts";

/** Those that customers see most; the API knows more, and keeps the one of a product. */
const CURRENCIES = [
  "USD",
  "EUR",
  "GBP",
  "CHF",
  "CAD",
  "AUD",
  "JPY",
  "SGD",
  "HKD",
  "PLN",
  "SEK",
  "NOK",
  "DKK",
  "CZK",
] as const;

/** As the contract has them (createInvoiceBody). */
const LONGEST = { name: 200, externalId: 200, description: 1_000 } as const;

interface Values {
  readonly name: string;
  readonly rawAmount: string;
  readonly currency: (typeof CURRENCIES)[number];
  readonly customerEmail: string;
  readonly externalId: string;
  readonly description: string;
}

const EMPTY: Values = { name: "", rawAmount: "", currency: "USD", customerEmail: "", externalId: "", description: "" };

interface Props {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

export function NewInvoice({ isOpen, onClose }: Props) {
  return (
    <Modal opened={isOpen} onClose={onClose} title="New invoice" size="lg">
      <NewInvoiceForm />
    </Modal>
  );
}

function NewInvoiceForm() {
  const merchant = useMerchant();
  const navigate = useNavigate();
  const form = useForm<Values>({
    initialValues: EMPTY,
    validate: {
      name: (name) => (name.trim() === "" ? "Enter what the customer pays for" : null),
      rawAmount: (amount) => (/^\d{1,9}(\.\d{1,6})?$/.test(amount) ? null : "Enter an amount, or 0 for any amount"),
      customerEmail: (email) => (email === "" ? null : isEmail("Enter an email address, or none")(email)),
    },
  });
  const create = useChange("createInvoice", {
    isShownInPlace: true,
    onSuccess: ({ id }) => {
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
  return (
    <form onSubmit={form.onSubmit(send)} noValidate>
      <Stack>
        <TextInput
          label="Name"
          description="What the customer sees, such as Order 1001."
          maxLength={LONGEST.name}
          required
          data-autofocus
          {...form.getInputProps("name")}
        />
        <Group grow align="flex-start">
          <NumberInput
            label="Amount"
            required
            min={0}
            decimalScale={6}
            thousandSeparator=" "
            hideControls
            value={form.values.rawAmount}
            error={form.errors.rawAmount}
            // The text, not the number: a number of JavaScript would round it.
            onValueChange={({ value }) => form.setFieldValue("rawAmount", value)}
          />
          <Select
            label="Currency"
            data={[...CURRENCIES]}
            searchable
            allowDeselect={false}
            {...form.getInputProps("currency")}
          />
        </Group>
        <Group grow align="flex-start">
          <TextInput label="Customer's email" type="email" {...form.getInputProps("customerEmail")} />
          <TextInput label="Order number" maxLength={LONGEST.externalId} {...form.getInputProps("externalId")} />
        </Group>
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
  const { name, rawAmount, currency, ...optional } = values;
  const given = Object.entries(optional).filter(([, text]) => text.trim() !== "");
  // The contract's one JSON number. The service reads its shortest decimal text, which is the text that was typed.
  return { name: name.trim(), rawAmount: Number(rawAmount), currency, ...Object.fromEntries(given) };
}
