import { Button, Group, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { showDone, useChange } from "../api/queries.ts";
import { CopyText } from "../shell/copy-text.tsx";
import { refusedIn } from "../shell/form.tsx";
import { useMay, useMerchant } from "../shell/merchants.ts";
import { Section } from "../shell/section.tsx";
import { PARTS } from "./parts.ts";
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
      showDone("Name changed.");
    },
  });
  const send = form.onSubmit(({ name }) =>
    rename.mutate({ merchantId: merchant.id, body: { name: name.trim() } }, refusedIn(form)),
  );
  return (
    <Section
      title={PARTS.merchant.title}
      anchor="merchant"
      about={<CopyText value={merchant.id} name="the merchant ID" />}
    >
      <form onSubmit={send} noValidate>
        <Fields mayChange={mayChange}>
          <TextInput
            label="Merchant name"
            description="Used in the console and in emails, and on the payment page unless you set a different brand name below."
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
