import { Alert, Button, Group, Select, Stack, Table, Text, Textarea } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useState } from "react";
import { NETWORKS } from "../../../src/chains/networks.ts";
import type { Merchant, RegisteredWallet, RegisterWalletBody } from "../api/operations.ts";
import { useChange, useList } from "../api/queries.ts";
import { Read } from "../shell/read.tsx";
import { type Recognised, recognise, recognisedText } from "./recognise.ts";

/** Enough to compare with what the wallet software shows. */
const COMPARED = 5;
const CONFIRMATIONS = 3;

interface Pair {
  readonly cryptocurrency: string;
  readonly network: string;
  readonly label: string;
}

interface Props {
  readonly merchant: Merchant;
  readonly onDone: () => void;
}

export function FirstWallet({ merchant, onDone }: Props) {
  const [wallet, setWallet] = useState<RegisteredWallet>();
  return wallet === undefined ? (
    <WalletForm merchant={merchant} onDone={onDone} onRegistered={setWallet} />
  ) : (
    <Compare wallet={wallet} onDone={onDone} />
  );
}

function WalletForm({
  merchant,
  onDone,
  onRegistered,
}: Props & { readonly onRegistered: (wallet: RegisteredWallet) => void }) {
  const form = useForm({ initialValues: { text: "", pair: "" } });
  const recognised = recognise(form.values.text);
  const pairs = pairsFor(recognised);
  const pair = pairs.find(({ label }) => label === form.values.pair) ?? pairs[0];
  const isSecret = recognised.kind === "SECRET";
  const register = useChange("registerWallet", { onSuccess: onRegistered });
  const send = form.onSubmit(({ text }) => {
    if (pair === undefined || isSecret) {
      form.setFieldError(
        "text",
        isSecret ? "Not this: take an address or a public key" : "Paste an address or a public key",
      );
      return;
    }
    register.mutate({ merchantId: merchant.id, body: bodyOf(text.trim(), pair, recognised) });
  });
  return (
    <form onSubmit={send}>
      <Stack>
        <Textarea
          label="Address or extended public key"
          description="From your own wallet software. Payments go straight there; Edgetill never holds them."
          autosize
          minRows={2}
          spellCheck={false}
          {...form.getInputProps("text")}
        />
        {recognised.kind !== "UNKNOWN" && (
          <Alert color={isSecret ? "red" : "indigo"} role="status">
            {recognisedText(recognised)}
          </Alert>
        )}
        {pairs.length > 0 && (
          <Select
            label="Coin and network"
            data={pairs.map(({ label }) => label)}
            value={pair?.label ?? null}
            onChange={(label) => form.setFieldValue("pair", label ?? "")}
            allowDeselect={false}
            searchable
          />
        )}
        <Group justify="flex-end">
          <Button variant="subtle" onClick={onDone}>
            Skip
          </Button>
          <Button type="submit" loading={register.isPending}>
            Add the wallet
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function bodyOf(text: string, { cryptocurrency, network }: Pair, recognised: Recognised): RegisterWalletBody {
  const common = { cryptocurrency, network, requiredConfirmations: CONFIRMATIONS };
  if (recognised.kind !== "XPUB") return { walletType: "DIRECT_WALLET", address: text, ...common };
  return { walletType: "XPUB_WALLET", xpub: text, derivationPath: recognised.derivationPath, ...common };
}

/** What may be received there, the usual stablecoin first. Test networks are for those who know them. */
function pairsFor(recognised: Recognised): readonly Pair[] {
  if (recognised.kind === "SECRET" || recognised.kind === "UNKNOWN") return [];
  const { coin } = recognised;
  const family = recognised.kind === "XPUB" ? "bitcoin" : recognised.family;
  const networks = NETWORKS.filter((each) => each.family === family && !each.isTest);
  const pairs = networks.flatMap(({ name, displayName, assets }) =>
    assets.map(({ code }) => ({ cryptocurrency: code, network: name, label: `${code} on ${displayName}` })),
  );
  return pairs
    .filter(({ cryptocurrency }) => coin === undefined || cryptocurrency === coin)
    .toSorted((a, b) => Number(b.cryptocurrency === "USDT") - Number(a.cryptocurrency === "USDT"));
}

/** The only proof that the key is the right one: the wallet software shows the same addresses. */
function Compare({ wallet, onDone }: { readonly wallet: RegisteredWallet; readonly onDone: () => void }) {
  return (
    <Stack>
      <Text>Compare this with your wallet software before you take money on it.</Text>
      {wallet.address === null ? <Addresses wallet={wallet} /> : <Text className="mono">{wallet.address}</Text>}
      {wallet.warnings.includes("NETWORK_NOT_WATCHED") && (
        <Alert color="orange" title="This network is not watched yet">
          This deployment has no source for {wallet.network}, so it would not notice a payment. Its operator can add
          one.
        </Alert>
      )}
      <Group justify="flex-end">
        <Button onClick={onDone}>It is the same</Button>
      </Group>
    </Stack>
  );
}

function Addresses({ wallet }: { readonly wallet: RegisteredWallet }) {
  const { merchantId, id: walletId } = wallet;
  const preview = useList("previewAddresses", { merchantId, params: { walletId }, query: { count: COMPARED } });
  return (
    <Read query={preview}>
      {({ data }) => (
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Path</Table.Th>
              <Table.Th>Address</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {data.map(({ index, address, path }) => (
              <Table.Tr key={index}>
                <Table.Td className="mono">{path}</Table.Td>
                <Table.Td className="mono">{address}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Read>
  );
}
