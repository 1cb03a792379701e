import type { Readiness } from "../api/operations.ts";

export type Coin = Readiness["coins"][number];
export type Finding = Coin["reasons"][number];

interface Coins {
  readonly coins: readonly Coin[];
}

/** Coins with a wallet, those that only lack one, and those that lack more. */
export function groupsOf({ coins }: Coins) {
  const own = coins.filter(({ walletId }) => walletId !== null);
  const others = coins.filter(({ walletId }) => walletId === null);
  const lacksWalletOnly = ({ reasons, warnings }: Coin) =>
    [...reasons, ...warnings].every(({ code }) => code === "NO_WALLET");
  return { own, addable: others.filter(lacksWalletOnly), missing: others.filter((coin) => !lacksWalletOnly(coin)) };
}

/** The answer in a few words, and whether all is well, some of it or nothing. */
export function verdictOf(readiness: Coins): {
  readonly color: "green" | "orange" | "red";
  readonly short: string;
  readonly text: string;
} {
  const { own } = groupsOf(readiness);
  const ready = own.filter(({ canBePaid }) => canBePaid).length;
  if (own.length === 0)
    return { color: "red", short: "No", text: "Not yet: there is no wallet that money could go to." };
  if (ready === 0) return { color: "red", short: "No", text: "No: none of your coins can be paid now." };
  if (ready < own.length)
    return {
      color: "orange",
      short: "In part",
      text: `In part: ${ready} of your ${own.length} coins can be paid now.`,
    };
  return {
    color: "green",
    short: "Yes",
    text:
      own.length === 1 ? "Yes: your coin can be paid now." : `Yes: all of your ${own.length} coins can be paid now.`,
  };
}
