import { Alert, Button, Group, NumberInput, Stack } from "@mantine/core";
import { useForm } from "@mantine/form";
import { fieldErrors } from "../api/errors.ts";
import type { Wallet } from "../api/operations.ts";
import { showDone, showError, useChange } from "../api/queries.ts";
import { Section } from "../shell/section.tsx";
import { recommendedConfirmations } from "../wallets/pairs.ts";
import { MOST_CONFIRMATIONS } from "../wallets/wallet-form.tsx";

export function ConfirmationsSection({ wallet }: { readonly wallet: Wallet }) {
  const { id: walletId, merchantId, network, requiredConfirmations } = wallet;
  const recommended = recommendedConfirmations(network);
  const form = useForm<{ readonly requiredConfirmations: string | number }>({
    initialValues: { requiredConfirmations },
    validate: { requiredConfirmations: (count) => (Number(count) >= 1 ? null : "Enter at least 1") },
  });
  const wanted = Number(form.values.requiredConfirmations);
  // What is in force is warned of at the top of the page.
  const isChanged = wanted !== requiredConfirmations;
  const update = useChange("updateWallet", {
    isShownInPlace: true,
    onSuccess: () => showDone("Payments to new invoices need as many confirmations now."),
  });
  const send = form.onSubmit(() =>
    update.mutate(
      { merchantId, params: { walletId }, body: { requiredConfirmations: wanted } },
      {
        onError: (error) => {
          form.setErrors(fieldErrors(error));
          showError(error);
        },
      },
    ),
  );
  return (
    <Section title="Confirmations" about="After so many blocks a payment counts. More are safer, and take longer.">
      <form onSubmit={send} noValidate>
        <Stack>
          <NumberInput
            label="Required confirmations"
            {...(recommended === undefined ? {} : { description: `Recommended on ${network}: ${recommended}.` })}
            min={1}
            max={MOST_CONFIRMATIONS}
            allowDecimal={false}
            {...form.getInputProps("requiredConfirmations")}
          />
          {recommended !== undefined && isChanged && wanted >= 1 && wanted < recommended && (
            <Alert color="orange" role="status">
              With fewer than {recommended} a payment may count and then vanish from the chain.
            </Alert>
          )}
          <Group justify="flex-end">
            <Button type="submit" variant="default" loading={update.isPending} disabled={!isChanged}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}
