import { Group, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Wallet } from "../api/operations.ts";
import { coinName } from "../shell/coin-name.ts";
import { CopyText } from "../shell/copy-text.tsx";
import { shortened } from "../shell/formats.ts";
import { useFormats } from "../shell/reader.tsx";
import { type Column, Rows } from "../shell/rows.tsx";
import { useLastAddress } from "./last-address.tsx";
import { recommendedConfirmations } from "./pairs.ts";
import { NetworkHealth, WalletState } from "./state.tsx";

/** From this many unused addresses on, wallet software may not show payments to the newest ones (BIP44). */
const USUAL_GAP_LIMIT = 20;

const COLUMNS: readonly Column<Wallet>[] = [
  { name: "Wallet", show: (wallet) => <WalletLink wallet={wallet} /> },
  { name: "Status", show: (wallet) => <WalletState wallet={wallet} /> },
  { name: "Last address", show: (wallet) => <LastAddress wallet={wallet} /> },
  { name: "Gap", show: (wallet) => <Gap wallet={wallet} /> },
  { name: "Confirmations", show: (wallet) => <Confirmations wallet={wallet} /> },
  { name: "Network", show: (wallet) => <NetworkHealth wallet={wallet} /> },
];

export function WalletRows({ wallets }: { readonly wallets: readonly Wallet[] }) {
  return <Rows rows={wallets} columns={COLUMNS} minWidth={760} card={(wallet) => <WalletCard wallet={wallet} />} />;
}

function WalletCard({ wallet }: { readonly wallet: Wallet }) {
  return (
    <>
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <WalletLink wallet={wallet} />
        <WalletState wallet={wallet} />
      </Group>
      <Stack gap={4} mt="xs">
        <Text size="sm" component="div">
          <LastAddress wallet={wallet} />
        </Text>
        <Group gap="sm">
          <Text size="sm" c="dimmed" component="div">
            <Confirmations wallet={wallet} /> confirmations
          </Text>
          {wallet.gap !== null && (
            <Text size="sm" c="dimmed" component="div">
              gap <Gap wallet={wallet} />
            </Text>
          )}
          <NetworkHealth wallet={wallet} />
        </Group>
      </Stack>
    </>
  );
}

function WalletLink({ wallet }: { readonly wallet: Wallet }) {
  const { id: walletId, merchantId, cryptocurrency, network, walletType } = wallet;
  return (
    <Link className="row-link" to="/console/$merchantId/wallets/$walletId" params={{ merchantId, walletId }}>
      <Text span size="sm" fw={600} display="block">
        {coinName(cryptocurrency, network)}
      </Text>
      <Text span size="xs" c="dimmed" display="block" fw={400}>
        {walletType === "XPUB_WALLET" ? "Extended key" : "One address"}
      </Text>
    </Link>
  );
}

function LastAddress({ wallet }: { readonly wallet: Wallet }) {
  const address = useLastAddress(wallet);
  const name = `the last ${coinName(wallet.cryptocurrency, wallet.network)} address`;
  if (address !== undefined) {
    return (
      <span className="above-row-link">
        <CopyText value={address} shown={shortened(address)} name={name} />
      </span>
    );
  }
  return (
    wallet.nextIndex === 0 && (
      <Text inherit span c="dimmed">
        No address yet
      </Text>
    )
  );
}

export function Gap({ wallet: { gap } }: { readonly wallet: Wallet }) {
  const { count } = useFormats();
  if (gap === null) return null;
  return gap < USUAL_GAP_LIMIT ? (
    count(gap)
  ) : (
    <Text inherit span c="var(--mantine-color-orange-light-color)" fw={600}>
      {count(gap)}
    </Text>
  );
}

export function Confirmations({ wallet: { requiredConfirmations, network } }: { readonly wallet: Wallet }) {
  const { count } = useFormats();
  const recommended = recommendedConfirmations(network) ?? 0;
  if (requiredConfirmations >= recommended) return count(requiredConfirmations);
  return `${count(requiredConfirmations)} of ${count(recommended)}`;
}
