// A block tree of the reorg simulator on anvil. A contract whose effect is chosen for each block pays the tokens, plain transactions pay the coins,
// and a branch that wins again consists of the same blocks, mined again from the same inputs.
import { assetOn, type Network } from "../../../src/chains/registry/networks.ts";
import {
  type Block,
  chainOf,
  type Mined,
  type Output,
  type Transaction,
} from "../../simulation/detection/chain-tree.ts";
import type { Plan } from "../../simulation/detection/reorg-plan.ts";
import type { TreeInvoice } from "../../simulation/detection/reorg-shop.ts";
import type { Anvil, Hex, Sending } from "../../support/anvil.ts";
import { dataOf } from "../../support/contracts.ts";
import { type Invoice, type Shop, shownTo, unitsOf, untilHealth } from "./harness.ts";
import { type Opened, type OutputName, type StoryChain, transactionsIn } from "./story.ts";

/** The contract's address; each of anvil's accounts has approved all its tokens to it. */
export const PAYER: Hex = "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb";
/** An effect that no transaction has, so that the transaction fails. */
const FAILS = 15;
/** Transactions are mined in order of arrival, and with this base fee a block that is mined again is identical. */
export const ANVIL_ARGS = ["--order", "fifo", "--block-base-fee-per-gas", "0"];

/** A merchant's calls, and its wallets by their coins. */
export interface Merchant {
  readonly shop: Pick<Shop, "call" | "createInvoice" | "invoice">;
  readonly walletIds: ReadonlyMap<string, string>;
}

interface Signed {
  readonly hash: Hex;
  readonly raw: Hex;
  /** The digit of a miner's address that selects the effect. */
  readonly digit: number;
}

/** A mined block's hash, and the timestamp with which mining it again gives the same block. */
interface Header {
  readonly hash: Hex;
  readonly timestamp: Hex;
}

const isNative = ({ cryptocurrency }: Output) => cryptocurrency === "ETH";

/**
 * Whether plain transactions can make every payment in the coin: each pays a single recipient, has the same effect in every block, and never fails.
 */
export function isPlainWithCoins(plan: Plan): boolean {
  const isPlain = ({ outputs, otherwise = [] }: Transaction) =>
    ![outputs, ...otherwise].flat().some(isNative) || (outputs.length === 1 && otherwise.length === 0);
  const { views, last } = plan.tree;
  const mined = [...views, last].flatMap(({ tip }) => chainOf(tip).flatMap((block) => block.mined));
  return transactionsIn(plan).every(isPlain) && !mined.some((each) => each.isReverted && each.outputs.some(isNative));
}

/** Whether the plan contains a payment in the coin. */
export function hasCoins(plan: Plan): boolean {
  return transactionsIn(plan).some(({ outputs }) => outputs.some(isNative));
}

/** Whether a transaction has different effects in different blocks of the plan. */
export function hasOtherEffects({ tree: { views, last } }: Plan): boolean {
  const effects = new Map<Transaction, Set<readonly Output[]>>();
  for (const { transaction, outputs } of [...views, last].flatMap(({ tip }) => chainOf(tip).flatMap((b) => b.mined)))
    effects.set(transaction, (effects.get(transaction) ?? new Set()).add(outputs));
  return [...effects.values()].some(({ size }) => size > 1);
}

export class EvmStory implements StoryChain {
  readonly #shop: Shop;
  readonly #chain: Anvil;
  readonly #network: Network;
  readonly #merchants: readonly Merchant[];
  readonly #opened: { readonly planned: TreeInvoice; readonly askedUnits: bigint }[] = [];
  readonly #signed = new Map<string, Signed>();
  readonly #headers = new Map<Block, Header>();

  constructor(of: {
    readonly shop: Shop;
    readonly chain: Anvil;
    readonly network: Network;
    /** Merchants by their number in the plan. */
    readonly merchants: readonly Merchant[];
  }) {
    this.#shop = of.shop;
    this.#chain = of.chain;
    this.#network = of.network;
    this.#merchants = of.merchants;
  }

  async open(plan: Plan): Promise<readonly Opened[]> {
    const opened: Opened[] = [];
    for (const invoice of plan.invoices) opened.push(await this.#create(invoice));
    await this.evict();
    const transactions = transactionsIn(plan);
    const coins = [...new Set(transactions.flatMap(({ spends }) => spends))];
    for (const transaction of transactions) {
      const [coin = ""] = transaction.spends;
      await this.#sign(transaction, coins.indexOf(coin));
    }
    return opened;
  }

  async #create(planned: TreeInvoice): Promise<Opened> {
    const { cryptocurrency, requiredConfirmations, merchant } = planned;
    const { shop, walletIds } = this.#merchants[merchant] ?? {};
    const walletId = walletIds?.get(cryptocurrency);
    if (shop === undefined || walletId === undefined) throw new Error(`no wallet for ${cryptocurrency}`);
    await shop.call("PATCH", `/wallets/${walletId}`, { requiredConfirmations });
    const pair = { cryptocurrency, network: this.#network.name };
    const rawAmount = Number(planned.expectedMicros) / 1_000_000;
    const invoice = await shop.createInvoice({ rawAmount, paymentMethods: [pair] });
    const askedUnits = this.#askedIn(invoice, planned);
    this.#opened.push({ planned, askedUnits });
    return { planned, shop, id: invoice.id };
  }

  #askedIn(invoice: Invoice, { cryptocurrency, address }: TreeInvoice): bigint {
    const shown = shownTo(invoice, { cryptocurrency, network: this.#network.name });
    if (shown.address !== address) throw new Error(`${invoice.id} is paid at ${shown.address}`);
    return unitsOf(shown.amount, assetOn(this.#network, cryptocurrency)?.decimals);
  }

  /** Each payment of coins is the next transaction of an account of its own, so that any order can be mined. */
  async #sign(transaction: Transaction, coin: number): Promise<void> {
    const from = this.#chain.accounts[coin];
    if (from === undefined) throw new Error(`no account for ${transaction.spends}`);
    const nonce = Number(await this.#chain.rpc("eth_getTransactionCount", from, "latest"));
    const hash = await this.#chain.send({ ...this.#sendingOf(transaction, coin), from, nonce, gasPrice: 10n ** 9n });
    this.#signed.set(transaction.hash, { hash, raw: await this.#chain.rawTransaction(hash), digit: coin });
    await this.#chain.rpc("anvil_dropTransaction", hash);
  }

  #sendingOf({ outputs, otherwise = [] }: Transaction, coin: number): Sending {
    const native = outputs.find(isNative);
    if (native !== undefined) return { to: hexOf(native.toAddress), value: this.#unitsOf(native), gas: 21_000n };
    const effects = [outputs, ...otherwise].map((each) =>
      each.map((output) => ({
        token: assetOn(this.#network, output.cryptocurrency)?.contract,
        to: output.toAddress,
        value: this.#unitsOf(output),
      })),
    );
    return { to: PAYER, data: dataOf("payByMiner", BigInt(coin), effects), gas: 2_000_000n };
  }

  /** The amount in the shop. For a payment of an invoice's exact amount, this is what the real invoice asks for. */
  #unitsOf({ toAddress, cryptocurrency, amountUnits }: Output): bigint {
    const asked = this.#opened.find(
      ({ planned }) =>
        planned.address === toAddress &&
        planned.cryptocurrency === cryptocurrency &&
        planned.askedUnits === amountUnits,
    );
    return asked?.askedUnits ?? amountUnits;
  }

  height(): Promise<number> {
    return this.#chain.height();
  }

  async undo(blocks: readonly Block[]): Promise<void> {
    await this.#chain.rpc("anvil_rollback", blocks.length);
  }

  async put(block: Block): Promise<void> {
    const before = this.#headers.get(block);
    const header = await this.#mine(block, before?.timestamp);
    if (before !== undefined && before.hash !== header.hash) throw new Error(`${before.hash} did not come back`);
    this.#headers.set(block, header);
  }

  async #mine({ parent, mined }: Block, timestamp: Hex | undefined): Promise<Header> {
    await this.evict();
    const parentTime = Number(parent === undefined ? 0 : (this.#headers.get(parent)?.timestamp ?? 0));
    const seconds = Math.max(parentTime, Math.floor(Date.now() / 1_000));
    await this.#chain.rpc("evm_setNextBlockTimestamp", timestamp ?? `0x${seconds.toString(16)}`);
    await this.#chain.rpc("anvil_setCoinbase", this.#minerFor(mined));
    const signed = mined.map(({ transaction }) => this.#signedOf(transaction.hash));
    for (const { raw } of signed) await this.#chain.rpc("eth_sendRawTransaction", raw);
    await this.#chain.mine();
    const block = await this.#chain.rpc<Header & { readonly transactions: readonly Hex[] }>(
      "eth_getBlockByNumber",
      "latest",
      false,
    );
    const hashes = signed.map(({ hash }) => hash);
    if (hashes.join() !== block.transactions.join())
      throw new Error(`mined ${block.transactions} instead of ${hashes}`);
    return { hash: block.hash, timestamp: block.timestamp };
  }

  /** The address of a miner that selects these effects. */
  #minerFor(mined: readonly Mined[]): Hex {
    let miner = BigInt(`0xe${"0".repeat(39)}`);
    for (const { transaction, outputs, isReverted } of mined) {
      const effect = isReverted ? FAILS : [transaction.outputs, ...(transaction.otherwise ?? [])].indexOf(outputs);
      miner += BigInt(effect) << BigInt(4 * this.#signedOf(transaction.hash).digit);
    }
    return `0x${miner.toString(16)}`;
  }

  async offer({ hash }: Transaction): Promise<void> {
    await this.#chain.rpc("eth_sendRawTransaction", this.#signedOf(hash).raw).catch(() => undefined);
  }

  async evict(): Promise<void> {
    await this.#chain.rpc("anvil_dropAllTransactions");
  }

  async mineEmpty(): Promise<void> {
    await this.evict();
    await this.#chain.mine();
  }

  async untilRead(): Promise<void> {
    const height = await this.height();
    await untilHealth(this.#shop, this.#network.name, (health) => health.height === height);
  }

  outputOf(hash: string, ordinal: number, planned: Output): OutputName {
    const outputIndex = isNative(planned) ? "native" : String(ordinal);
    return { txHash: this.#signedOf(hash).hash, outputIndex, amountUnits: this.#unitsOf(planned) };
  }

  #signedOf(hash: string): Signed {
    const signed = this.#signed.get(hash);
    if (signed === undefined) throw new Error(`${hash} was not signed`);
    return signed;
  }
}

function hexOf(address: string): Hex {
  return `0x${address.slice(2)}`;
}
