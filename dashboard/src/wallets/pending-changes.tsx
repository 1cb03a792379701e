// Wallets that were registered or enabled but are not in use yet, so the team can still disable them.
import { Alert, Anchor, Group, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { AuditEvent, Wallet } from "../api/operations.ts";
import { DisableWallet } from "../home/remedies.tsx";
import { useAuthors } from "../shell/authors.ts";
import { coinName } from "../shell/coin-name.ts";
import { Time } from "../shell/time.tsx";
import { beganToWait, useWalletChanges } from "./changes.ts";

export function PendingChanges({ wallets }: { readonly wallets: readonly Wallet[] }) {
  const changes = useWalletChanges();
  const pending = wallets.filter(({ isEnabled, usableFrom }) => isEnabled && usableFrom !== null);
  if (pending.length === 0) return null;
  return (
    <Alert color="yellow" title="Pending changes">
      <Stack gap="xs">
        <Text size="sm">
          If your team did not make a change, disable the wallet now. Customers cannot pay to it yet.
        </Text>
        {pending.map((wallet) => (
          <PendingChange key={wallet.id} wallet={wallet} change={beganToWait(changes, wallet.id)} />
        ))}
      </Stack>
    </Alert>
  );
}

interface Props {
  readonly wallet: Wallet;
  /** Undefined if the audit log is not loaded, not visible to the user, or does not contain the change. */
  readonly change: AuditEvent | undefined;
}

function PendingChange({ wallet, change }: Props) {
  const { id: walletId, merchantId, cryptocurrency, network, usableFrom } = wallet;
  return (
    <Group justify="space-between" gap="xs">
      <Text size="sm" component="div" style={{ flex: "1 1 14rem", overflowWrap: "anywhere" }}>
        <Anchor
          component={Link}
          to={`/console/${merchantId}/wallets/${walletId}`}
          inherit
          fw={600}
          underline="always"
          c="inherit"
        >
          {coinName(cryptocurrency, network)}
        </Anchor>
        {change !== undefined && (
          <>
            {" "}
            was <AskedBy change={change} />
          </>
        )}
        {usableFrom !== null && (
          <>
            , in use from <Time value={usableFrom} />
          </>
        )}
        .
      </Text>
      <DisableWallet walletId={walletId} cryptocurrency={cryptocurrency} network={network} />
    </Group>
  );
}

/** `added by Ann Miller (ann@example.com), Nov 23, 2026, 5:30 PM` */
export function AskedBy({ change: { action, actor, createdAt } }: { readonly change: AuditEvent }) {
  const authorOf = useAuthors();
  return (
    <>
      {action === "wallet.created" ? "added" : "enabled"} by {authorOf(actor)}, <Time value={createdAt} />
    </>
  );
}
