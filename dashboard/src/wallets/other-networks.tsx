// Registers one address on several EVM networks. The service checks the networks, and the user selects them one by one and confirms the whole
// address. Then each is registered in turn, like any wallet.
import { Button, Group } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Wallet } from "../api/operations.ts";
import { reading } from "../api/queries.ts";
import { Read } from "../shell/read.tsx";
import { ConfirmNetworks } from "./confirm-networks.tsx";
import { NetworkChoice } from "./network-choice.tsx";
import type { Pair } from "./pairs.ts";

interface Props {
  readonly wallet: Wallet;
}

export function OtherNetworks({ wallet }: Props) {
  const [isOpen, { open }] = useDisclosure();
  if (isOpen) return <Asked wallet={wallet} />;
  return (
    <Group>
      <Button variant="default" onClick={open}>
        Use this address on other networks
      </Button>
    </Group>
  );
}

function Asked({ wallet }: Props) {
  const { id: walletId, merchantId, address } = wallet;
  const [chosen, setChosen] = useState<readonly Pair[]>();
  // Each check queries every network, so its answer is kept until the user leaves the page.
  const networks = useQuery({
    ...reading("checkNetworks", { merchantId, params: { walletId } }),
    enabled: chosen === undefined,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  if (chosen !== undefined && address !== null)
    return (
      <ConfirmNetworks merchantId={merchantId} address={address} pairs={chosen} onBack={() => setChosen(undefined)} />
    );
  return (
    <Read query={networks}>
      {(data) => <NetworkChoice offers={data.networks} own={wallet.network} onChosen={setChosen} />}
    </Read>
  );
}
