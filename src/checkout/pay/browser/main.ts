// The only script of the payers' pages. The pages work without it.
import { serverClock } from "./clock.ts";
import { startCopy } from "./copy.ts";
import { startCountdown } from "./countdown.ts";
import { startFrame } from "./frame.ts";
import { startLive } from "./live.ts";
import { currentMain } from "./page.ts";
import { startPrint } from "./print.ts";
import { startReturn } from "./return.ts";
import { startSearch } from "./search.ts";
import { startStale } from "./stale.ts";
import { startSwap } from "./swap.ts";
import { startWallets } from "./wallets.ts";

const swap = startSwap();
const clock = serverClock(Number(currentMain()?.dataset.now));
const ask = startLive(
  (html, atMs) =>
    swap(html, () => {
      clock.set(Number(currentMain()?.dataset.now), atMs);
      dress();
    }),
  startStale(clock),
);
const dressers = [
  startCountdown(clock, ask),
  startCopy(),
  startSearch(),
  startWallets(ask),
  startReturn(),
  startFrame(),
  startPrint(),
];

function dress(): void {
  for (const each of dressers) each();
}

dress();
