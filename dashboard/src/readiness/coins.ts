import type { Readiness } from "../api/operations.ts";

export type Coin = Readiness["coins"][number];
export type Finding = Coin["reasons"][number];

interface Coins {
  readonly coins: readonly Coin[];
}

/** Findings that a wallet and a first invoice resolve. */
const MENDED_BY_WALLET: readonly Finding["code"][] = ["NO_WALLET", "NOT_YET_READ"];

/** Coins with a wallet, coins that only need a wallet, and coins that need more. */
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

/**
 * Whether customers can pay with all, some or none of the coins, in a few words. Test coins are worth nothing, so they are counted separately.
 */
export function verdictOf(readiness: Coins): Verdict {
  const { own } = groupsOf(readiness);
  const [real, tests] = [own.filter(({ isTest }) => !isTest), own.filter(({ isTest }) => isTest)];
  const [ready, testsReady] = [readyOf(real), readyOf(tests)];
  if (own.length === 0) return { color: "red", short: "No", text: "Not yet: you have no wallet to receive money." };
  if (ready === 0 && testsReady > 0) return onlyTests(real.length);
  if (ready === 0) return { color: "red", short: "No", text: "No: customers cannot pay with any of your coins." };
  const apart = tests.length === 0 ? "" : ` Test coins: ${testsReady} of ${tests.length}.`;
  if (ready < real.length) {
    const text = `Partly: customers can pay with ${ready} of your ${real.length} coins.${apart}`;
    return { color: "orange", short: "Partly", text };
  }
  const all = real.length === 1 ? "your coin" : `all ${real.length} of your coins`;
  return { color: "green", short: "Yes", text: `Yes: customers can pay with ${all}.${apart}` };
}

/** The verdict if customers can pay only with test coins. Without a wallet for real money that is expected; with one it is a failure. */
function onlyTests(real: number): Verdict {
  return real === 0
    ? { color: "orange", short: "Test coins", text: "Customers can pay only with test coins." }
    : { color: "red", short: "No", text: "No: customers can pay only with test coins." };
}

/** A development server also creates invoices for networks without a source, but would not notice their payments: such a coin is not ready. */
export function isReady({ canBePaid, warnings }: Coin): boolean {
  return canBePaid && warnings.every(({ code }) => code !== "NO_SOURCE");
}

function readyOf(coins: readonly Coin[]): number {
  return coins.filter(isReady).length;
}
