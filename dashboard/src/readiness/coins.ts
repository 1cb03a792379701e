import type { Readiness } from "../api/operations.ts";

export type Coin = Readiness["coins"][number];
export type Finding = Coin["reasons"][number];

interface Coins {
  readonly coins: readonly Coin[];
}

/** What a wallet and a first invoice fix. */
const MENDED_BY_WALLET: readonly Finding["code"][] = ["NO_WALLET", "NOT_YET_READ"];

/** Coins with a wallet, those that only lack one, and those that lack more. */
export function groupsOf({ coins }: Coins) {
  const own = coins.filter(({ walletId }) => walletId !== null);
  const others = coins.filter(({ walletId }) => walletId === null);
  const lacksWalletOnly = ({ reasons, warnings }: Coin) =>
    [...reasons, ...warnings].every(({ code }) => MENDED_BY_WALLET.includes(code));
  return { own, addable: others.filter(lacksWalletOnly), missing: others.filter((coin) => !lacksWalletOnly(coin)) };
}

interface Verdict {
  readonly color: "green" | "orange" | "red";
  readonly short: string;
  readonly text: string;
}

/** The answer in a few words, and whether all is well, some of it or nothing. Test coins are no money, so they are told apart. */
export function verdictOf(readiness: Coins): Verdict {
  const { own } = groupsOf(readiness);
  const [real, tests] = [own.filter(({ isTest }) => !isTest), own.filter(({ isTest }) => isTest)];
  const [ready, testsReady] = [readyOf(real), readyOf(tests)];
  if (own.length === 0)
    return { color: "red", short: "No", text: "Not yet: there is no wallet that money could go to." };
  if (ready === 0 && testsReady > 0) return onlyTests(real.length);
  if (ready === 0) return { color: "red", short: "No", text: "No: none of your coins can be paid now." };
  const apart = tests.length === 0 ? "" : ` Of your test coins: ${testsReady} of ${tests.length}.`;
  if (ready < real.length) {
    const text = `In part: ${ready} of your ${real.length} coins can be paid now.${apart}`;
    return { color: "orange", short: "In part", text };
  }
  const all = real.length === 1 ? "your coin" : `all of your ${real.length} coins`;
  return { color: "green", short: "Yes", text: `Yes: ${all} can be paid now.${apart}` };
}

/** Without a wallet for real money that is what a person who tries things out means; with one it is a failure. */
function onlyTests(real: number): Verdict {
  return real === 0
    ? { color: "orange", short: "Test coins", text: "Only test coins can be paid now." }
    : { color: "red", short: "No", text: "No: only test coins can be paid now." };
}

function readyOf(coins: readonly Coin[]): number {
  return coins.filter(({ canBePaid }) => canBePaid).length;
}
