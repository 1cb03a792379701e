// The form for a new or an existing customer.
import { Group, TextInput } from "@mantine/core";
import { isEmail } from "@mantine/form";
import type { Customer } from "../api/operations.ts";
import { useChange } from "../api/queries.ts";
import { LONGEST } from "../invoices/longest.ts";
import { Form, LongText, refusedIn } from "../shell/form.tsx";
import { useMerchant } from "../shell/merchants.ts";
import { DraftNotice, useDraft } from "../shell/use-draft.tsx";

interface Props {
  /** The customer to change; undefined for a new one. */
  readonly customer?: Customer;
  readonly onSaved: (customer: Pick<Customer, "id">) => void;
}

const FIELDS = ["name", "email", "phoneNumber", "address"] as const;
type Values = Readonly<Record<(typeof FIELDS)[number], string>>;

export function CustomerForm({ customer, onSaved }: Props) {
  const { id: merchantId } = useMerchant();
  const { form, draft } = useDraft<Values>({
    name: customer === undefined ? "new customer" : `customer ${customer.id}`,
    kept: FIELDS,
    initialValues: {
      name: customer?.name ?? "",
      email: customer?.email ?? "",
      phoneNumber: customer?.phoneNumber ?? "",
      address: customer?.address ?? "",
    },
    validate: {
      name: (name, { email }) => (`${name}${email}`.trim() === "" ? "Enter a name or an email address" : null),
      email: (email) => (email === "" ? null : isEmail("Enter an email address, or leave this empty")(email)),
    },
  });
  const onSuccess = (saved: Pick<Customer, "id">) => {
    draft.forget();
    onSaved(saved);
  };
  const options = { isShownInPlace: true, onSuccess };
  const create = useChange("upsertCustomer", options);
  const update = useChange("updateCustomer", options);
  const failed = refusedIn(form);
  const send = form.onSubmit((values) => {
    const before = form.getInitialValues();
    const changed = FIELDS.filter((field) => values[field].trim() !== before[field]);
    // An emptied field is cleared.
    const body = Object.fromEntries(changed.map((field) => [field, values[field].trim() || null]));
    if (customer === undefined) create.mutate({ merchantId, body }, failed);
    else if (changed.length === 0) onSaved(customer);
    else update.mutate({ merchantId, params: { customerId: customer.id }, body }, failed);
  });
  return (
    <Form
      onSubmit={send}
      action={customer === undefined ? "Create customer" : "Save"}
      isBusy={create.isPending || update.isPending}
    >
      <DraftNotice draft={draft} />
      <Group grow align="flex-start">
        <TextInput label="Name" maxLength={LONGEST.customerName} data-autofocus {...form.getInputProps("name")} />
        <TextInput label="Email" type="email" {...form.getInputProps("email")} />
      </Group>
      <TextInput label="Phone number" maxLength={LONGEST.customerPhoneNumber} {...form.getInputProps("phoneNumber")} />
      <LongText label="Address" maxLength={LONGEST.customerAddress} {...form.getInputProps("address")} />
    </Form>
  );
}
