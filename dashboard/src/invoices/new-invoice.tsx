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

// Each form is loaded only when it is shown: the invoice form is as large as a page, and the wallet form includes every network.
const NewInvoiceForm = lazy(async () => ({ default: (await import("./new-invoice-form.tsx")).NewInvoiceForm }));
const FirstWallet = lazy(async () => ({ default: (await import("../welcome/first-wallet.tsx")).FirstWallet }));

/**
 * Without a wallet nothing can be paid, so the wallet form comes first. An open form is not replaced after a later read of the wallets: it holds
 * typed text, and the user may be comparing a new wallet with the wallet software.
 */
function WalletFirst() {
  const merchant = useMerchant();
  const { isRead, pairs } = useWalletPairs();
  const mayAdd = useMay("wallet:create");
  const [open, setOpen] = useState<"wallet" | "form">();
  const isFirst = pairs.length === 0;
  if (open === undefined && isRead) setOpen(isFirst ? "wallet" : "form");
  // Another user has added a wallet.
  if (open === "wallet" && !mayAdd && !isFirst) setOpen("form");
  if (open === undefined) return <Loader />;
  if (open === "form") return <NewInvoiceForm />;
  return (
    <Stack>
      <Alert color="indigo" title="Add a wallet first">
        Customers pay straight into your own wallet. Until you have one, an invoice cannot be paid.
      </Alert>
      {mayAdd ? (
        <FirstWallet merchant={merchant} onDone={() => setOpen("form")} />
      ) : (
        <>
          <Text size="sm">Ask the team's owner or an admin to add one. Open invoices can be paid from then on.</Text>
          <Group justify="flex-end">
            <Button variant="default" onClick={() => setOpen("form")}>
              Create an invoice anyway
            </Button>
          </Group>
        </>
      )}
    </Stack>
  );
}
