import type { MacRows } from "../../platform/keys/keyed-rows.ts";
import { macTextOf } from "./row-mac.ts";

/** Includes deleted wallets, because their addresses are recovered with their keys. A frozen wallet is never signed again. */
export const WALLET_ROWS: MacRows = {
  kind: "wallets",
  keyring: "ROW_MAC_KEY",
  table: "wallets",
  where: () => "frozen_at_ms is null",
  columns: ["id", "merchant_id", "network", "cryptocurrency", "address", "xpub"],
  textOf: ({ id, merchant_id, network, cryptocurrency, address, xpub }) =>
    macTextOf({
      kind: "wallet",
      row: String(id),
      merchantId: String(merchant_id),
      network: String(network),
      cryptocurrency: String(cryptocurrency),
      target: String(address ?? xpub ?? ""),
    }),
  freezes: true,
};
