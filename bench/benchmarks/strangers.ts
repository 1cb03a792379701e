// How much strangers slow down a merchant's own server: the time of its creates when others have registered its address and reserved as many
// amounts there as they can, and when they also keep requesting more, compared with the same merchant alone.
import { LIMITS } from "../../src/lib/limits.ts";
import type { Context } from "../context.ts";
import { interleave, interleaveOnce, type Measured, together, type Window } from "../interleave.ts";
import { type Merchant, type Product, registerWallet } from "../product.ts";
import type { Outcome } from "../report.ts";
import { createTarget, freshDirectWallet, merchantWithProof } from "./create-targets.ts";
import { latency } from "./figures.ts";

const STRANGERS = 20;
/** The strangers' creates per second, none of which gets an amount. */
const ASKS_A_SECOND = 5;
/** The price of every create in these benchmarks, so that strangers compete for the same amounts. */
const PRICE = 25.5;

async function asked(product: Product, stranger: Merchant): Promise<string> {
  const answer = await product.served.fetch(stranger.path("/invoices"), {
    method: "POST",
    headers: { ...stranger.headers, "content-type": "application/json" },
    body: JSON.stringify({ name: "Order", rawAmount: PRICE }),
  });
  const body = await answer.text();
  if (answer.status !== 201) throw new Error(`a stranger's create was answered ${answer.status} ${body}`);
  return body;
}

/** Merchants that hold as many amounts at the address as they are allowed, so the next create by each of them gets none. */
async function squatters(product: Product, wallet: object): Promise<readonly Merchant[]> {
  const strangers = await Promise.all(Array.from({ length: STRANGERS }, () => product.newMerchant()));
  for (const stranger of strangers) await registerWallet(product, stranger, wallet);
  for (const stranger of strangers) {
    for (let n = 0; n < LIMITS.amountsWithoutProof; n++) await asked(product, stranger);
    if (!(await asked(product, stranger)).includes('"UNAVAILABLE"')) throw new Error("a stranger met no limit");
  }
  return strangers;
}

/** Makes the strangers send requests at an even pace until the returned function is called, which waits for those in progress. */
function keepAsking(product: Product, strangers: readonly Merchant[]): () => Promise<void> {
  const asks: Promise<string>[] = [];
  const timer = setInterval(() => {
    const stranger = strangers[asks.length % strangers.length];
    if (stranger !== undefined) asks.push(asked(product, stranger));
  }, 1_000 / ASKS_A_SECOND);
  return async () => {
    clearInterval(timer);
    await Promise.all(asks);
  };
}

export async function createAmongStrangers(context: Context): Promise<Outcome> {
  const product = await context.product();
  const [lonely, crowded] = [freshDirectWallet(), freshDirectWallet()];
  const alone = createTarget("create alone", product, await merchantWithProof(product, lonely));
  const amongThem = createTarget("create among strangers", product, await merchantWithProof(product, crowded));
  context.progress("strangers take what they can");
  const strangers = await squatters(product, crowded);
  const window: Window = { ...context.plan, connections: 1 };
  const [held, quiet] = await interleave(context, [amongThem, alone] as const, window);
  const rounds: { readonly busy: Measured[]; readonly calm: Measured[] } = { busy: [], calm: [] };
  for (let round = 0; round < window.rounds; round++) {
    const stop = keepAsking(product, strangers);
    try {
      rounds.busy.push(await interleaveOnce(context, amongThem, window));
    } finally {
      await stop();
    }
    rounds.calm.push(await interleaveOnce(context, alone, window));
  }
  const what = "create on a direct wallet with proof, c = 1";
  const baseline = "the same with nobody else";
  return {
    figures: [
      latency({ what: `${what}, ${STRANGERS} strangers hold all they can`, ours: held, baseline, theirs: quiet }),
      latency({
        what: `${what}, and ask for more ${ASKS_A_SECOND} times a second`,
        baseline,
        ours: together(rounds.busy),
        theirs: together(rounds.calm),
      }),
    ],
  };
}
