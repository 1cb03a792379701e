import { Anchor, Button, Group, Stack } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Link } from "@tanstack/react-router";
import { useList } from "../api/queries.ts";
import { EmptyList } from "../shell/empty-list.tsx";
import { Icon } from "../shell/icons.tsx";
import { useMay, useMerchant } from "../shell/merchants.ts";
import { PageHeader } from "../shell/page-header.tsx";
import { Read } from "../shell/read.tsx";
import { PendingChanges } from "./pending-changes.tsx";
import { RegisterWallet } from "./register-wallet.tsx";
import { WalletRows } from "./wallet-rows.tsx";

export function WalletsPage() {
  const { id: merchantId } = useMerchant();
  const mayCreate = useMay("wallet:create");
  const [isAdding, adding] = useDisclosure();
  const wallets = useList("listWallets", { merchantId });
  return (
    <>
      <PageHeader
        title="Wallets"
        subtitle="Your own addresses and public keys. Customers pay straight to them; Edgetill cannot spend."
        actions={
          <Group gap="md">
            <Anchor component={Link} to={`/console/${merchantId}/readiness`} size="sm" underline="always">
              Can I accept payments now?
            </Anchor>
            {mayCreate && (
              <Button leftSection={<Icon name="plus" />} onClick={adding.open}>
                Add a wallet
              </Button>
            )}
          </Group>
        }
      />
      <Read query={wallets}>
        {(data) =>
          data.length === 0 ? (
            <NoWallets mayCreate={mayCreate} onAdd={adding.open} />
          ) : (
            <Stack>
              <PendingChanges wallets={data} />
              <WalletRows wallets={data} />
            </Stack>
          )
        }
      </Read>
      <RegisterWallet isOpen={isAdding} onClose={adding.close} />
    </>
  );
}

function NoWallets({ mayCreate, onAdd }: { readonly mayCreate: boolean; readonly onAdd: () => void }) {
  return (
    <EmptyList title="No wallets yet" action={mayCreate && <Button onClick={onAdd}>Add your first wallet</Button>}>
      {mayCreate
        ? "Paste an address or an extended public key from your wallet software. You can have one wallet per coin and network; invoices offer them all."
        : "Ask the team's owner or an admin to add one. Until then, no invoice can be paid."}
    </EmptyList>
  );
}
