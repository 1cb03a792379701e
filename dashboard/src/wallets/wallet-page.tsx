import { Alert, Anchor, Group, SimpleGrid, Stack } from "@mantine/core";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { ApiError } from "../api/errors.ts";
import type { Wallet } from "../api/operations.ts";
import { showDone, showError, useChange, useList } from "../api/queries.ts";
import { coinName } from "../shell/coin-name.ts";
import { ConfirmButton } from "../shell/confirm.tsx";
import { useMay } from "../shell/merchants.ts";
import { PageHeader } from "../shell/page-header.tsx";
import { Read } from "../shell/read.tsx";
import { Section } from "../shell/section.tsx";
import { AddressesSection } from "./addresses-section.tsx";
import { BlockingInvoices } from "./blocking-invoices.tsx";
import { beganToWait, useWalletChanges } from "./changes.ts";
import { ChangesSection } from "./changes-section.tsx";
import { ConfirmationsSection } from "./confirmations-section.tsx";
import { OtherNetworks } from "./other-networks.tsx";
import { isOnEvm } from "./pairs.ts";
import { AskedBy } from "./pending-changes.tsx";
import { RecoverySection } from "./recovery-section.tsx";
import { WalletState } from "./state.tsx";
import { SummarySection } from "./summary-section.tsx";
import { WalletWarnings } from "./warnings.tsx";

export function WalletPage() {
  const params = useParams({ from: "/frame/merchant/console/$merchantId/wallets/$walletId" });
  const { merchantId, walletId } = params;
  const wallet = useList("getWallet", { merchantId, params: { walletId } });
  return (
    <Stack gap={0}>
      <Anchor component={Link} to={`/console/${merchantId}/wallets`} size="sm" mb="xs">
        All wallets
      </Anchor>
      <Read query={wallet}>{(data) => <TheWallet wallet={data} />}</Read>
    </Stack>
  );
}

function TheWallet({ wallet }: { readonly wallet: Wallet }) {
  const maySeeChanges = useMay("audit:view");
  const mayUpdate = useMay("wallet:update");
  const mayCreate = useMay("wallet:create");
  const removal = useRemoval(wallet);
  const isAltered = wallet.warnings.includes("INTEGRITY_CHECK_FAILED");
  const isXpub = wallet.walletType === "XPUB_WALLET";
  return (
    <>
      <PageHeader
        title={coinName(wallet.cryptocurrency, wallet.network)}
        mark={<WalletState wallet={wallet} />}
        subtitle={isXpub ? "An extended key: every invoice gets its own address." : "One address for all invoices."}
        actions={<Actions wallet={wallet} removal={removal} />}
      />
      <Stack gap="lg">
        {removal.blockers.length > 0 && <BlockingInvoices invoiceIds={removal.blockers} />}
        <WalletWarnings wallet={wallet} />
        <WhoAsked wallet={wallet} />
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
          <SummarySection wallet={wallet} />
          {mayUpdate && !isAltered && <ConfirmationsSection wallet={wallet} />}
        </SimpleGrid>
        {mayCreate && !isAltered && isOnEvm(wallet.network) && (
          <Section title="Other networks" about="The address of your own wallet is the same on all of these networks.">
            <OtherNetworks wallet={wallet} />
          </Section>
        )}
        {isXpub && !isAltered && (
          <>
            <AddressesSection wallet={wallet} />
            <RecoverySection wallet={wallet} />
          </>
        )}
        {maySeeChanges && <ChangesSection wallet={wallet} />}
      </Stack>
    </>
  );
}

function WhoAsked({ wallet: { id, isEnabled, usableFrom } }: { readonly wallet: Wallet }) {
  const change = beganToWait(useWalletChanges(), id);
  if (!isEnabled || usableFrom === null || change === undefined) return null;
  return (
    <Alert color="gray" title="Who made this change">
      The wallet was <AskedBy change={change} />.
    </Alert>
  );
}

type Removal = ReturnType<typeof useRemoval>;

function useRemoval({ id: walletId, merchantId, cryptocurrency, network }: Wallet) {
  const navigate = useNavigate();
  const remove = useChange("deleteWallet", {
    isShownInPlace: true,
    onSuccess: () => {
      showDone(`The wallet for ${coinName(cryptocurrency, network)} was deleted.`);
      void navigate({ to: "/console/$merchantId/wallets", params: { merchantId } });
    },
  });
  const blockers = blockersIn(remove.error);
  return {
    isBusy: remove.isPending,
    blockers,
    begin: () =>
      remove.mutate(
        { merchantId, params: { walletId } },
        {
          onError: (error) => {
            if (blockersIn(error).length === 0) showError(error);
          },
        },
      ),
  };
}

/** The invoices that blocked a deletion. */
function blockersIn(error: Error | null): readonly string[] {
  const isBlocked = error instanceof ApiError && error.code === "WALLET_HAS_ACTIVE_PAYMENTS";
  const ids = isBlocked ? error.facts.invoiceIds : [];
  return Array.isArray(ids) ? ids.map(String) : [];
}

function Actions({ wallet, removal }: { readonly wallet: Wallet; readonly removal: Removal }) {
  const mayUpdate = useMay("wallet:update");
  const mayDelete = useMay("wallet:delete");
  const { id: walletId, merchantId, isEnabled, warnings } = wallet;
  const update = useChange("updateWallet", {
    onSuccess: (changed) => showDone(changed.isEnabled ? "Wallet enabled." : "Wallet disabled."),
  });
  const change = () => update.mutate({ merchantId, params: { walletId }, body: { isEnabled: !isEnabled } });
  return (
    <Group gap="xs">
      {mayUpdate && !warnings.includes("INTEGRITY_CHECK_FAILED") && (
        <ConfirmButton
          action={isEnabled ? "Disable" : "Enable"}
          isBusy={update.isPending}
          consequence={
            isEnabled
              ? "No new invoice will use it. Open invoices that use it can still be paid."
              : "New invoices will use it again after your team's wallet change delay."
          }
          onConfirmed={change}
        />
      )}
      {mayDelete && (
        <ConfirmButton
          action="Delete"
          isBusy={removal.isBusy}
          consequence="You can then add another wallet for its coin and network. Money already paid to your addresses is not affected. A wallet used by open invoices cannot be deleted."
          onConfirmed={removal.begin}
        />
      )}
    </Group>
  );
}
