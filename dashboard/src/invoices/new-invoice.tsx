import { Alert, Button, Group, Loader, Modal, Stack, Text } from "@mantine/core";
import { lazy, Suspense, useState } from "react";
import { useMay, useMerchant } from "../shell/merchants.ts";
import { useWalletPairs } from "./wallet-pairs.ts";

interface Props {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

export function NewInvoice({ isOpen, onClose }: Props) {
  return (
    <Modal opened={isOpen} onClose={onClose} title="New invoice" size="lg">
      <Suspense fallback={<Loader />}>
        <WalletFirst />
      </Suspense>
    </Modal>
  );
}

// Each is loaded when it is shown: the form has a page's weight, and what registers a wallet knows every network.
const NewInvoiceForm = lazy(async () => ({ default: (await import("./new-invoice-form.tsx")).NewInvoiceForm }));
const FirstWallet = lazy(async () => ({ default: (await import("../welcome/first-wallet.tsx")).FirstWallet }));

/** Without a wallet nothing can be paid, so it is asked for first. */
function WalletFirst() {
  const merchant = useMerchant();
  const { isRead, pairs } = useWalletPairs();
  const mayAdd = useMay("wallet:create");
  const [isLater, setLater] = useState(false);
  // While a wallet is being added it is compared with the wallet software, which the list must not take away.
  const [isAdding, setAdding] = useState(false);
  if (!isRead && !isAdding) return <Loader />;
  if (!isAdding && (pairs.length > 0 || isLater)) return <NewInvoiceForm />;
  if (!isAdding && mayAdd) setAdding(true);
  return (
    <Stack>
      <Alert color="indigo" title="First a wallet">
        Customers pay straight into your own wallet. Until you have one, an invoice cannot be paid.
      </Alert>
      {mayAdd ? (
        <FirstWallet
          merchant={merchant}
          onDone={() => {
            setAdding(false);
            setLater(true);
          }}
        />
      ) : (
        <>
          <Text size="sm">
            Ask an owner or admin of the team to add one. An invoice that waits is payable from then on.
          </Text>
          <Group justify="flex-end">
            <Button variant="default" onClick={() => setLater(true)}>
              Create an invoice all the same
            </Button>
          </Group>
        </>
      )}
    </Stack>
  );
}
