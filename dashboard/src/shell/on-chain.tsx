// Transactions and addresses, with a button to copy them, and a link to the network's explorer if the deployment has one.
import { ActionIcon, Group, Tooltip } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { reading } from "../api/queries.ts";
import { CopyText } from "./copy-text.tsx";
import { Icon } from "./icons.tsx";

const EXPLORERS = { ...reading("listExplorers", {}), staleTime: Number.POSITIVE_INFINITY };

interface TransactionProps {
  readonly network: string;
  readonly hash: string;
  /** For the buttons' names; `the transaction hash` by default. */
  readonly name?: string;
}

export function TransactionHash({ network, hash, name = "the transaction hash" }: TransactionProps) {
  const { data } = useQuery(EXPLORERS);
  const template = data?.data.find((each) => each.network === network)?.transaction;
  return (
    <Group gap={4} wrap="nowrap" align="flex-start" component="span" display="inline-flex">
      <CopyText value={hash} name={name} />
      {typeof template === "string" && (
        <ExplorerLink to={template.replace("{hash}", encodeURIComponent(hash))} subject="The transaction" />
      )}
    </Group>
  );
}

interface AddressProps {
  readonly network: string;
  readonly address: string;
  readonly name: string;
}

export function ChainAddress({ network, address, name }: AddressProps) {
  const { data } = useQuery(EXPLORERS);
  const template = data?.data.find((each) => each.network === network)?.address;
  return (
    <Group gap={4} wrap="nowrap" align="flex-start" component="span" display="inline-flex">
      <CopyText value={address} name={name} />
      {typeof template === "string" && (
        <ExplorerLink to={template.replace("{address}", encodeURIComponent(address))} subject="The address" />
      )}
    </Group>
  );
}

function ExplorerLink({ to, subject }: { readonly to: string; readonly subject: string }) {
  const name = `${subject} at ${new URL(to).host}`;
  return (
    <Tooltip label={name}>
      <ActionIcon
        component="a"
        href={to}
        target="_blank"
        rel="noreferrer"
        variant="subtle"
        color="gray"
        size="sm"
        aria-label={name}
      >
        <Icon name="out" size={15} />
      </ActionIcon>
    </Tooltip>
  );
}
