// Compares the payments that the shop credits to invoices with the outputs on a Bitcoin-like chain.
import { expect } from "vitest";
import type { CoreNode } from "../../support/core-node.ts";
import { type Invoice, type Pair, type Shop, shownTo } from "./harness.ts";

interface Block {
  readonly height: number;
  readonly tx: readonly {
    readonly txid: string;
    readonly vout: readonly { readonly n: number; readonly value: number; readonly scriptPubKey: Script }[];
  }[];
}
interface Script {
  readonly address?: string;
  /** Used by Litecoin Core instead of `address`. */
  readonly addresses?: readonly string[];
}

/** Every output to the address in the blocks of the best chain from a height on: `txid:n amount @height`. */
async function outputsTo(node: CoreNode, address: string, from: number): Promise<readonly string[]> {
  const found: string[] = [];
  const tip = await node.rpc<number>("getblockcount");
  for (let height = from; height <= tip; height++) {
    const { tx } = await node.rpc<Block>("getblock", await node.rpc("getblockhash", height), 2);
    for (const { txid, vout } of tx)
      for (const { n, value, scriptPubKey } of vout)
        if (addressOf(scriptPubKey) === address) found.push(`${txid}:${n} ${value.toFixed(8)} @${height}`);
  }
  return found.toSorted();
}

const addressOf = ({ address, addresses }: Script) => address ?? addresses?.[0];

/** The invoice's payments that are in a block and count, in the same format. */
function credited({ payments }: Invoice): readonly string[] {
  return payments
    .filter(({ status, blockHeight }) => (status === "CONFIRMED" || status === "DETECTED") && blockHeight !== null)
    .map(
      ({ txHash, outputIndex, amount, blockHeight }) =>
        `${txHash}:${outputIndex} ${Number(amount).toFixed(8)} @${blockHeight}`,
    )
    .toSorted();
}

/** Expects the shop to credit each invoice with exactly the chain's outputs from a height on. Payments in the mempool are not compared. */
export async function expectAsOnChain(
  of: { readonly shop: Shop; readonly node: CoreNode; readonly pair: Pair; readonly from: number },
  ids: readonly string[],
): Promise<void> {
  for (const id of ids) {
    const invoice = await of.shop.invoice(id);
    expect(credited(invoice), id).toEqual(await outputsTo(of.node, shownTo(invoice, of.pair).address, of.from));
  }
}

/** Events of the invoice's payments and status changes, oldest first, without its creation. */
export async function eventsOf(shop: Shop, invoiceId: string): Promise<readonly string[]> {
  const { data } = await shop.call<{ data: readonly { readonly type: string }[] }>(
    "GET",
    `/events?invoiceId=${invoiceId}&after=0&limit=100`,
  );
  return data.map(({ type }) => type).filter((type) => type !== "invoice.created" && type !== "payment.created");
}
