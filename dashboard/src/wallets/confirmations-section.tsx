import { Alert, Button, Group, Stack } from "@mantine/core";
import { useForm } from "@mantine/form";
import type { Wallet } from "../api/operations.ts";
import { showDone, useChange } from "../api/queries.ts";
import { fieldText, numberError, numberIn, wireNumber } from "../shell/amounts.ts";
import { networkName } from "../shell/coin-name.ts";
import { refusedIn } from "../shell/form.tsx";
import { NumberField } from "../shell/number-field.tsx";
import { Section } from "../shell/section.tsx";
import { recommendedConfirmations } from "./pairs.ts";
import { CONFIRMATIONS } from "./wallet-form.tsx";

export function ConfirmationsSection({ wallet }: { readonly wallet: Wallet }) {
  const { id: walletId, merchantId, network, requiredConfirmations } = wallet;
  const recommended = recommendedConfirmations(network);
  const form = useForm<{ readonly requiredConfirmations: string }>({
    initialValues: { requiredConfirmations: fieldText(requiredConfirmations) },
    validate: { requiredConfirmations: (text) => numberError(text, CONFIRMATIONS) },
  });
  const wanted = numberIn(form.values.requiredConfirmations, CONFIRMATIONS);
  // Only a changed value gets a warning here: warnings about the saved value are at the top of the page.
  const isChanged = wanted !== requiredConfirmations;
  const update = useChange("updateWallet", {
    isShownInPlace: true,
    onSuccess: () => showDone("Saved. This applies to new invoices."),
  });
  const send = form.onSubmit((values) =>
    update.mutate(
      {
        merchantId,
        params: { walletId },
        body: { requiredConfirmations: wireNumber(values.requiredConfirmations, CONFIRMATIONS) },
      },
      refusedIn(form),
    ),
  );
  return (
    <Section title="Confirmations" about="How many blocks until a payment counts. More is safer but takes longer.">
      <form onSubmit={send} noValidate>
        <Stack>
          <NumberField
            label="Required confirmations"
            rule={CONFIRMATIONS}
            {...(recommended === undefined ? {} : { hint: `Recommended on ${networkName(network)}: ${recommended}.` })}
            {...form.getInputProps("requiredConfirmations")}
          />
          {recommended !== undefined && isChanged && wanted !== undefined && wanted < recommended && (
            <Alert color="orange" role="status">
              With fewer than {recommended} confirmations, a payment may count and then disappear from the chain.
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
