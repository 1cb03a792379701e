import { Switch } from "@mantine/core";
import type { Settings } from "../api/operations.ts";
import { SettingsForm } from "./settings-form.tsx";

type Values = Pick<Settings, "mailReceiptsToCustomers" | "mailReceiptsToMerchant">;

export function MailsSection({ settings }: { readonly settings: Settings }) {
  const { mailReceiptsToCustomers, mailReceiptsToMerchant } = settings;
  return (
    <SettingsForm<Values>
      title="Mails"
      about="What is sent once an invoice is paid."
      initial={{ mailReceiptsToCustomers, mailReceiptsToMerchant }}
      bodyOf={(values) => values}
    >
      {(form) => (
        <>
          <Switch
            label="A receipt to the customer"
            description="Where their address is known, as soon as the money is confirmed."
            {...form.getInputProps("mailReceiptsToCustomers", { type: "checkbox" })}
          />
          <Switch
            label="A mail to every owner and admin"
            description="Also when somebody accepts an invoice without money."
            {...form.getInputProps("mailReceiptsToMerchant", { type: "checkbox" })}
          />
        </>
      )}
    </SettingsForm>
  );
}
