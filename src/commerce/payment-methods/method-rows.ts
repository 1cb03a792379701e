import type { MacRows } from "../../platform/keys/keyed-rows.ts";
import { macTextOf } from "../wallet-records/row-mac.ts";

/** The methods of all invoices, because money may still arrive at the address of an old method, and recovery lists that address. */
export const METHOD_ROWS: MacRows = {
  kind: "methods",
  keyring: "ROW_MAC_KEY",
  table: "payment_methods",
  columns: ["invoice_id", "merchant_id", "network", "cryptocurrency", "address"],
  textOf: ({ invoice_id, merchant_id, network, cryptocurrency, address }) =>
    macTextOf({
      kind: "method",
      row: String(invoice_id),
      merchantId: String(merchant_id),
      network: String(network),
      cryptocurrency: String(cryptocurrency),
      target: String(address ?? ""),
    }),
};
