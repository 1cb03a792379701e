// For which other EVM networks the address of a wallet may be offered. A key's address is the same on all of them. A contract's address, such as a Safe's, need
// not exist on another one: money sent there could be lost, so code at the address on any network ends the offer on all.
import type { Network, NetworkName } from "../../chains/registry/networks.ts";
import { NETWORKS, networkNamed } from "../../chains/registry/networks.ts";
import type { Wallet } from "../wallet-records/wallet.ts";

/** A network's answer about the address. NO_ANSWER: its sources do not answer, do not agree that there is no code, or may not be asked now. */
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
  /** Only FREE is an offer. */
  readonly state: (typeof OFFER_STATES)[number];
  /** In the registry's order. `walletId`: the merchant's live wallet of the pair, at whatever address. */
  readonly coins: readonly { readonly cryptocurrency: string; readonly walletId: string | null }[];
}

/** The EVM networks whose coins have value, or the test networks, matching the wallet's own; none for a wallet without an address on EVM. */
export function networksLike({ network: name, address }: Pick<Wallet, "network" | "address">): readonly Network[] {
  const own = networkNamed(name);
  if (own?.family !== "evm" || address === null) return [];
  return NETWORKS.filter(({ family, isTest }) => family === "evm" && isTest === own.isTest);
}

/**
 * Each of `networksLike`. `live`: the merchant's wallets, including this one. The address must be known to have no code on all networks where the merchant uses
 * it: a contract would exist there.
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
