// Buttons that resolve what needs attention, for users with the permission.
import { Button } from "@mantine/core";
import { showDone, useChange } from "../api/queries.ts";
import { coinName } from "../shell/coin-name.ts";
import { ConfirmButton } from "../shell/confirm.tsx";
import { useMay, useMerchant } from "../shell/merchants.ts";

interface EndpointProps {
  readonly webhookId: string;
  readonly url: string;
}

export function SwitchOn({ webhookId, url }: EndpointProps) {
  const { id: merchantId } = useMerchant();
  const change = useChange("updateWebhook", { onSuccess: () => showDone("Endpoint turned on again.") });
  if (!useMay("webhook:update")) return null;
  return (
    <Button
      size="xs"
      variant="default"
      loading={change.isPending}
      aria-label={`Turn on again: ${url}`}
      onClick={() => change.mutate({ merchantId, params: { webhookId }, body: { isActive: true } })}
    >
      Turn on again
    </Button>
  );
}

export function PingEndpoint({ webhookId, url }: EndpointProps) {
  const { id: merchantId } = useMerchant();
  const ping = useChange("pingWebhook", { onSuccess: () => showDone("Ping sent.") });
  if (!useMay("webhook:update")) return null;
  return (
    <Button
      size="xs"
      variant="default"
      loading={ping.isPending}
      aria-label={`Send a ping: ${url}`}
      onClick={() => ping.mutate({ merchantId, params: { webhookId } })}
    >
      Send a ping
    </Button>
  );
}

interface WalletProps {
  readonly walletId: string;
  readonly cryptocurrency: string;
  readonly network: string;
}

export function DisableWallet({ walletId, cryptocurrency, network }: WalletProps) {
  const { id: merchantId } = useMerchant();
  const change = useChange("updateWallet", { onSuccess: () => showDone("Wallet disabled.") });
  if (!useMay("wallet:update")) return null;
  return (
    <ConfirmButton
      size="xs"
      action="Disable wallet"
      subject={coinName(cryptocurrency, network)}
      consequence="No invoice will use it. If you enable it again later, the same delay applies."
      isBusy={change.isPending}
      onConfirmed={() => change.mutate({ merchantId, params: { walletId }, body: { isEnabled: false } })}
    />
  );
}

export function DeleteWallet({ walletId, cryptocurrency, network }: WalletProps) {
  const { id: merchantId } = useMerchant();
  const remove = useChange("deleteWallet", { onSuccess: () => showDone("Wallet deleted.") });
  if (!useMay("wallet:delete")) return null;
  return (
    <ConfirmButton
      size="xs"
      action="Delete wallet"
      subject={coinName(cryptocurrency, network)}
      consequence="Add it again afterwards from your wallet software. Money already paid to your addresses is not affected."
      isBusy={remove.isPending}
      onConfirmed={() => remove.mutate({ merchantId, params: { walletId } })}
    />
  );
}
