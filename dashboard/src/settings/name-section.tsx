import { Button, Group, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { showDone, useChange } from "../api/queries.ts";
import { CopyText } from "../shell/copy-text.tsx";
import { refusedIn } from "../shell/form.tsx";
import { useMay, useMerchant } from "../shell/merchants.ts";
import { Section } from "../shell/section.tsx";
import { Fields } from "./settings-form.tsx";

const LONGEST_NAME = 200;

export function NameSection() {
  const merchant = useMerchant();
  const mayChange = useMay("merchant:update");
  const form = useForm({
    initialValues: { name: merchant.name },
    validate: { name: (name) => (name.trim() === "" ? "Enter the name of your shop or business" : null) },
  });
  const rename = useChange("updateMerchant", {
    isShownInPlace: true,
    onSuccess: ({ name }) => {
      form.setInitialValues({ name });
      form.reset();
      showDone("The name was changed.");
    },
  });
  const send = form.onSubmit(({ name }) =>
    rename.mutate({ merchantId: merchant.id, body: { name: name.trim() } }, refusedIn(form)),
  );
  return (
    <Section title="Merchant" about={<CopyText value={merchant.id} name="the merchant's id" />}>
      <form onSubmit={send} noValidate>
        <Fields mayChange={mayChange}>
          <TextInput
            label="Name of the merchant"
            description="In the console, in mails, and on the customer's page where the brand has no name of its own."
            maxLength={LONGEST_NAME}
            {...form.getInputProps("name")}
          />
          {mayChange && (
            <Group justify="flex-end">
              <Button type="submit" loading={rename.isPending} disabled={!form.isDirty()} aria-label="Save: Merchant">
                Save
              </Button>
            </Group>
          )}
        </Fields>
      </form>
    </Section>
  );
}
