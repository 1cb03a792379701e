import { Button, Group, Stack, Text } from "@mantine/core";
import { useState } from "react";
import type { RegisteredWallet } from "../api/operations.ts";
import { coinName } from "../shell/coin-name.ts";
import { OtherNetworks } from "./other-networks.tsx";
import { isOnEvm } from "./pairs.ts";
import { WalletForm } from "./wallet-form.tsx";
import { WalletWarnings } from "./warnings.tsx";

interface Props {
  readonly merchantId: string;
  /** The button that closes the form without adding a wallet. */
  readonly leave: { readonly name: string; readonly onLeave: () => void };
  readonly onDone: () => void;
  /** Whether to offer to register an EVM wallet's address on other networks too. */
  readonly offersNetworks?: boolean;
}

/** Adds a wallet, and then shows the service's warnings, if any. */
export function AddWallet({ merchantId, leave, onDone, offersNetworks = false }: Props) {
  const [added, setAdded] = useState<RegisteredWallet>();
  const hasOffer = (wallet: RegisteredWallet) => offersNetworks && isOnEvm(wallet.network);
  if (added === undefined) {
    const registered = (wallet: RegisteredWallet) =>
      wallet.warnings.length === 0 && !hasOffer(wallet) ? onDone() : setAdded(wallet);
    return <WalletForm merchantId={merchantId} leave={leave} onRegistered={registered} />;
  }
  return (
    <Stack>
      <Text>
        The wallet for {coinName(added.cryptocurrency, added.network)} was added.
        {added.warnings.length > 0 && " Before you accept payments with it:"}
      </Text>
      <WalletWarnings wallet={added} />
      {hasOffer(added) && <OtherNetworks wallet={added} />}
      <Group justify="flex-end">
        <Button onClick={onDone}>Continue</Button>
      </Group>
    </Stack>
  );
}
