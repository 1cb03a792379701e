// Decides for which other EVM networks a wallet's address may be offered. The address of a private key is the same on all of them. A contract, such
// as a Safe, may not exist at its address on another network, where money sent to that address could be lost. So code at the address on any network
// ends the offer on all.
import type { Network, NetworkName } from "../../chains/registry/networks.ts";
import { NETWORKS, networkNamed } from "../../chains/registry/networks.ts";
import type { Wallet } from "../wallet-records/wallet.ts";

/** A network's answer about the address. NO_ANSWER: its sources do not answer, do not agree that there is no code, or may not be called now. */
export type CodeAnswer = "CODE" | "NO_CODE" | "NO_SOURCE" | "NO_ANSWER";

export const OFFER_STATES = [
  "FREE",
  "REGISTERED",
  "CODE",
  "CODE_ELSEWHERE",
  "NO_SOURCE",
  "NO_ANSWER",
  "UNPROVEN",
] as const;

interface NetworkOffer {
  readonly network: NetworkName;
  /** The address is offered only if the state is FREE. */
  readonly state: (typeof OFFER_STATES)[number];
  /** In the registry's order. `walletId`: the merchant's live wallet for the pair, at any address. */
  readonly coins: readonly { readonly cryptocurrency: string; readonly walletId: string | null }[];
}

/**
 * All EVM networks of the wallet's kind: main networks for a wallet on a main network, test networks for one on a test network. Empty if the wallet
 * has no address on an EVM network.
 */
export function networksLike({ network: name, address }: Pick<Wallet, "network" | "address">): readonly Network[] {
  const own = networkNamed(name);
  if (own?.family !== "evm" || address === null) return [];
  return NETWORKS.filter(({ family, isTest }) => family === "evm" && isTest === own.isTest);
}

/**
 * An offer for each of `networksLike`. `live`: the merchant's wallets, including this one. FREE requires an answer that there is no code from every
 * network on which the merchant uses the address: if the address were a contract, one of these networks would have its code.
 */
export function offersOf(of: {
  readonly wallet: Wallet;
  readonly live: readonly Wallet[];
  readonly answers: ReadonlyMap<string, CodeAnswer>;
}): readonly NetworkOffer[] {
  const { wallet, live, answers } = of;
  const answerOn = (network: string) => answers.get(network) ?? "NO_ANSWER";
  const networks = networksLike(wallet);
  const used = [wallet, ...live.filter(({ address }) => address === wallet.address)].map(({ network }) => network);
  const isProven = networks.every(({ name }) => !used.includes(name) || answerOn(name) === "NO_CODE");
  const hasCode = networks.some(({ name }) => answerOn(name) === "CODE");
  return networks.map(({ name, assets }) => {
    const coins = assets.map(({ code }) => ({
      cryptocurrency: code,
      walletId: live.find(({ network, cryptocurrency }) => network === name && cryptocurrency === code)?.id ?? null,
    }));
    const isFull = coins.every(({ walletId }) => walletId !== null);
    return { network: name, state: stateOf({ answer: answerOn(name), isFull, hasCode, isProven }), coins };
  });
}

function stateOf(of: {
  readonly answer: CodeAnswer;
  readonly isFull: boolean;
  readonly hasCode: boolean;
  readonly isProven: boolean;
}): NetworkOffer["state"] {
  if (of.answer === "CODE") return "CODE";
  if (of.isFull) return "REGISTERED";
  if (of.hasCode) return "CODE_ELSEWHERE";
  if (of.answer !== "NO_CODE") return of.answer;
  return of.isProven ? "FREE" : "UNPROVEN";
}
