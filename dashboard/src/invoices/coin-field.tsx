import { Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { reading } from "../api/queries.ts";
import { coinName } from "../shell/coin-name.ts";
import { useMay, useMerchant } from "../shell/merchants.ts";

interface Pair {
  readonly cryptocurrency: string | undefined;
  readonly network: string | undefined;
}

/** Filters by the coin that an invoice was paid with, among the coins of the merchant's wallets, including disabled ones. */
export function CoinField({ cryptocurrency, network, onChange }: Pair & { readonly onChange: (pair: Pair) => void }) {
  const enabled = useMay("wallet:view");
  const { id: merchantId } = useMerchant();
  const { data = [] } = useQuery({ ...reading("listWallets", { merchantId }), enabled });
  const chosen = cryptocurrency === undefined || network === undefined ? [] : [{ cryptocurrency, network }];
  const pairs = new Map([...data, ...chosen].map((pair) => [coinName(pair.cryptocurrency, pair.network), pair]));
  // With a single coin there is nothing to choose.
  if (pairs.size < 2 && chosen.length === 0) return null;
  return (
    <Select
      label="Paid with"
      placeholder="Any coin"
      data={[...pairs.keys()].toSorted()}
      value={chosen[0] === undefined ? null : coinName(chosen[0].cryptocurrency, chosen[0].network)}
      onChange={(name) => {
        const pair = pairs.get(name ?? "");
        onChange({ cryptocurrency: pair?.cryptocurrency, network: pair?.network });
      }}
      clearable
      clearButtonProps={{ "aria-label": "Any coin" }}
      w={170}
    />
  );
}
