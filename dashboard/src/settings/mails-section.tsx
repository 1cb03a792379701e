import { Switch } from "@mantine/core";
import type { Settings } from "../api/operations.ts";
import { SettingsForm } from "./settings-form.tsx";

type Values = Pick<Settings, "mailReceiptsToCustomers" | "mailReceiptsToMerchant">;

export function MailsSection({ settings }: { readonly settings: Settings }) {
  const { mailReceiptsToCustomers, mailReceiptsToMerchant } = settings;
  return (
    <SettingsForm<Values>
      part="email"
      about="Sent once an invoice is paid."
      initial={{ mailReceiptsToCustomers, mailReceiptsToMerchant }}
      bodyOf={(values) => values}
    >
      {(form) => (
        <>
          <Switch
            label="Send customers a receipt"
            description="Sent as soon as the payment is confirmed, if their email address is known."
            {...form.getInputProps("mailReceiptsToCustomers", { type: "checkbox" })}
          />
          <Switch
            label="Email every owner and admin"
            description="Also sent when someone marks an unpaid invoice as settled."
            {...form.getInputProps("mailReceiptsToMerchant", { type: "checkbox" })}
          />
        </>
      )}
    </SettingsForm>
  );
}
