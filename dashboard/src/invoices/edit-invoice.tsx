// The fields of an invoice that can still be changed while it awaits payment.
import { Group, Modal, TextInput } from "@mantine/core";
import { isEmail } from "@mantine/form";
import type { Invoice, UpdateInvoiceBody } from "../api/operations.ts";
import { showDone, useChange } from "../api/queries.ts";
import { Form, LongText, refusedIn } from "../shell/form.tsx";
import { DraftNotice, useDraft } from "../shell/use-draft.tsx";
import { ContactFields } from "./contact-fields.tsx";
import { LONGEST } from "./longest.ts";

interface Props {
  readonly invoice: Invoice;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

export function EditInvoice({ invoice, isOpen, onClose }: Props) {
  return (
    <Modal opened={isOpen} onClose={onClose} title="Edit invoice" size="lg">
      <EditForm invoice={invoice} onDone={onClose} />
    </Modal>
  );
}

type Values = Readonly<Record<"name" | "description" | "redirectUrl" | (typeof CUSTOMER_FIELDS)[number], string>>;

const CUSTOMER_FIELDS = ["customerEmail", "customerName", "customerAddress", "customerPhoneNumber"] as const;
const KEPT = ["name", "description", "redirectUrl", ...CUSTOMER_FIELDS] as const;

function EditForm({ invoice, onDone }: { readonly invoice: Invoice; readonly onDone: () => void }) {
  const { form, draft } = useDraft<Values>({
    name: `invoice ${invoice.id}`,
    kept: KEPT,
    initialValues: valuesOf(invoice),
    validate: {
      name: (name) => (name.trim() === "" ? "Enter what the customer is paying for" : null),
      customerEmail: (email) => (email === "" ? null : isEmail("Enter an email address, or leave this empty")(email)),
      redirectUrl: (url) =>
        url === "" || /^https?:\/\//.test(url) ? null : "Enter a URL that starts with https://, or leave this empty",
    },
  });
  const update = useChange("updateInvoice", {
    isShownInPlace: true,
    onSuccess: () => {
      draft.forget();
      showDone("Invoice saved.");
      onDone();
    },
  });
  const send = form.onSubmit((values) => {
    const body = changesOf(form.getInitialValues(), values);
    if (Object.keys(body).length === 0) {
      onDone();
      return;
    }
    update.mutate({ merchantId: invoice.merchantId, params: { invoiceId: invoice.id }, body }, refusedIn(form));
  });
  return (
    <Form onSubmit={send} action="Save" isBusy={update.isPending}>
      <DraftNotice draft={draft} />
      <TextInput label="Name" required maxLength={LONGEST.name} data-autofocus {...form.getInputProps("name")} />
      <LongText label="Description" maxLength={LONGEST.description} {...form.getInputProps("description")} />
      <ContactFields form={form} />
      <Group grow align="flex-start">
        <TextInput
          label="Customer's phone number"
          maxLength={LONGEST.customerPhoneNumber}
          {...form.getInputProps("customerPhoneNumber")}
        />
        <TextInput
          label="Customer's address"
          maxLength={LONGEST.customerAddress}
          {...form.getInputProps("customerAddress")}
        />
      </Group>
      <TextInput
        label="Redirect after payment"
        placeholder="https://"
        type="url"
        {...form.getInputProps("redirectUrl")}
      />
    </Form>
  );
}

function valuesOf({ name, description, redirectUrl, customer }: Invoice): Values {
  return {
    name,
    description: description ?? "",
    redirectUrl: redirectUrl ?? "",
    customerEmail: customer?.email ?? "",
    customerName: customer?.name ?? "",
    customerAddress: customer?.address ?? "",
    customerPhoneNumber: customer?.phoneNumber ?? "",
  };
}

/** Only fields changed since the form was opened. The API does not accept an empty customer email or name, so these are not sent. */
function changesOf(before: Values, after: Values): UpdateInvoiceBody {
  const isChanged = (name: keyof Values) => after[name].trim() !== before[name];
  const mayBeEmpty = (name: keyof Values) => name === "customerAddress" || name === "customerPhoneNumber";
  const customer = CUSTOMER_FIELDS.filter((name) => isChanged(name) && (mayBeEmpty(name) || after[name].trim() !== ""));
  return {
    ...(isChanged("name") ? { name: after.name.trim() } : {}),
    ...(isChanged("description") ? { description: after.description.trim() || null } : {}),
    ...(isChanged("redirectUrl") ? { redirectUrl: after.redirectUrl.trim() || null } : {}),
    ...Object.fromEntries(customer.map((name) => [name, after[name].trim()])),
  };
}
