import { Divider, Group, Stack, Text } from "@mantine/core";
import type { Merchant } from "../api/operations.ts";
import { hasTestChain } from "../shell/deployment.ts";
import { StartChain } from "../test-chain/start-chain.tsx";
import { AddWallet } from "../wallets/add-wallet.tsx";

interface Props {
  readonly merchant: Merchant;
  readonly onDone: () => void;
  /** By default the same as `onDone`. */
  readonly onSkip?: () => void;
}

export function FirstWallet({ merchant, onDone, onSkip = onDone }: Props) {
  return (
    <Stack>
      {hasTestChain && <TestWallet merchant={merchant} onDone={onDone} />}
      <AddWallet merchantId={merchant.id} leave={{ name: "Skip", onLeave: onSkip }} onDone={onDone} />
    </Stack>
  );
}

/** On a developer's machine: creates a test wallet without leaving the page. Its invoices can be paid at once. */
function TestWallet({ merchant, onDone }: Props) {
  return (
    <>
      <Text>
        Try it without real money: start a test chain on this machine, with a new address as your wallet, then pay your
        own invoices.
      </Text>
      <Group>
        <StartChain walletFor={merchant.id} onStarted={onDone} />
      </Group>
      <Divider label="or with your own wallet" />
    </>
  );
}
