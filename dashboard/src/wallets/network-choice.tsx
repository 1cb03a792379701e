// Lets the user choose on which networks to register a wallet's address; none is preselected. Also explains why other networks are not offered.
import { Alert, Button, Checkbox, Group, Stack, Text } from "@mantine/core";
import { useState } from "react";
import type { WalletNetworks } from "../api/operations.ts";
import { displayNameOf, type Pair, pairOf } from "./pairs.ts";

type Offer = WalletNetworks["networks"][number];

interface Props {
  readonly offers: readonly Offer[];
  /** The wallet's own network, which is not offered. */
  readonly own: string;
  readonly onChosen: (pairs: readonly Pair[]) => void;
}

export function NetworkChoice({ offers, own, onChosen }: Props) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const free = offers.filter(({ network, state }) => state === "FREE" && network !== own);
  const pairs = free.flatMap(pairsOf).filter(({ label }) => chosen.has(label));
  const choose = (labels: readonly string[], isOn: boolean) => {
    const others = [...chosen].filter((label) => !labels.includes(label));
    setChosen(new Set(isOn ? [...others, ...labels] : others));
  };
  return (
    <Stack>
      <Refusals offers={offers} own={own} />
      {free.map((offer) => (
        <NetworkBoxes key={offer.network} offer={offer} chosen={chosen} onChange={choose} />
      ))}
      {free.length > 0 && (
        <Group>
          <Button disabled={pairs.length === 0} onClick={() => onChosen(pairs)}>
            Check and confirm
          </Button>
        </Group>
      )}
    </Stack>
  );
}

/** The network's coins that do not have a wallet yet. */
const pairsOf = ({ network, coins }: Offer): readonly Pair[] =>
  coins.flatMap(({ cryptocurrency, walletId }) => (walletId === null ? pairOf(cryptocurrency, network) : []));

interface BoxesProps {
  readonly offer: Offer;
  readonly chosen: ReadonlySet<string>;
  readonly onChange: (labels: readonly string[], isOn: boolean) => void;
}

function NetworkBoxes({ offer, chosen, onChange }: BoxesProps) {
  const { network, coins } = offer;
  const name = displayNameOf(network);
  const labels = pairsOf(offer).map(({ label }) => label);
  const count = labels.filter((label) => chosen.has(label)).length;
  const taken = coins.filter(({ walletId }) => walletId !== null).map(({ cryptocurrency }) => cryptocurrency);
  return (
    <Stack gap="xs">
      <Checkbox
        label={name}
        checked={count === labels.length}
        indeterminate={count > 0 && count < labels.length}
        onChange={({ currentTarget }) => onChange(labels, currentTarget.checked)}
      />
      <Group gap="md" pl="xl">
        {labels.map((label) => (
          <Checkbox
            key={label}
            size="sm"
            label={label}
            checked={chosen.has(label)}
            onChange={({ currentTarget }) => onChange([label], currentTarget.checked)}
          />
        ))}
        {taken.length > 0 && (
          <Text size="sm" c="dimmed">
            Already has a wallet: {taken.join(", ")}
          </Text>
        )}
      </Group>
    </Stack>
  );
}

/** Why networks are not offered. If the address has code on any network, only that is shown, because no other network is then offered. */
function Refusals({ offers, own }: Pick<Props, "offers" | "own">) {
  const namesOf = (state: Offer["state"], among = offers) =>
    among.filter((offer) => offer.state === state).map(({ network }) => displayNameOf(network));
  const withCode = namesOf("CODE");
  if (withCode.length > 0) {
    return (
      <Alert color="red" role="status" title="This address is not offered for other networks">
        It is a contract on {withCode.join(", ")}, such as a Safe, or an account that delegates to one. The contract may
        not exist on the other networks, and money sent to it there could be lost.
      </Alert>
    );
  }
  const others = offers.filter(({ network }) => network !== own);
  const [unproven, full] = [namesOf("UNPROVEN", others), namesOf("REGISTERED", others)];
  const [unread, silent] = [namesOf("NO_SOURCE", others), namesOf("NO_ANSWER", others)];
  return (
    <>
      {unproven.length > 0 && (
        <Alert color="orange" role="status" title="This address cannot be offered right now">
          A network where you use it is not responding, or this deployment has no data source for it. The address may
          therefore be a contract, which may not exist on other networks.
        </Alert>
      )}
      <Unasked names={unread}>this deployment has no data source there and cannot check for a contract.</Unasked>
      <Unasked names={silent}>the data sources there are not responding. Try again later.</Unasked>
      {full.length > 0 && (
        <Text size="sm" c="dimmed">
          All coins have a wallet: {full.join(", ")}.
        </Text>
      )}
    </>
  );
}

function Unasked({ names, children }: { readonly names: readonly string[]; readonly children: string }) {
  if (names.length === 0) return null;
  return (
    <Text size="sm" c="dimmed">
      Not offered: {names.join(", ")}, because {children}
    </Text>
  );
}
