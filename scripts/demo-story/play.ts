// Plays the stories: customers pay while blocks are mined, the view is updated, and in the end every invoice is compared with its story.
import { type Asset, assetOn, networkNamed } from "../../src/chains/registry/networks.ts";
import { formatUnits, parseUnits } from "../../src/lib/money.ts";
import type { EvmChain } from "./evm-chain.ts";
import type { LitecoinChain } from "./litecoin-chain.ts";
import type { Invoice, Pair, Shop } from "./shop.ts";
import { differences, isAtEnd, pathOf, type Stage, type Story } from "./story.ts";
import type { Scene, View } from "./view.ts";

export interface Chains {
  readonly evm: EvmChain;
  readonly litecoin: LitecoinChain | undefined;
}

export interface Outcome {
  readonly title: string;
  /** Absent if the outcome is not about an invoice. */
  readonly invoiceId?: string;
  /** Every status that its invoice went through, or the steps of an outcome without an invoice. */
  readonly path: readonly string[];
  /** Differences from the story; empty if there are none. */
  readonly differences: readonly string[];
}

const BLOCK_EVERY_MS = { evm: 1_000, litecoin: 3_000 } as const;
const LOOK_EVERY_MS = 200;
/** The longest story waits for an expiry of a minute. */
const ALL_WITHIN_MS = 150_000;

interface Act extends Scene {
  readonly story: Story;
  invoice: Invoice;
  note: string;
  /** The customer's step that failed. */
  failure?: string;
  isPlayed: boolean;
}

/** State that all acts share: while one act reverts blocks, no other may have a payment in them. */
interface Theatre {
  readonly shop: Shop;
  readonly chains: Chains;
  readonly acts: readonly Act[];
  isOver: boolean;
  disturbed: Act | undefined;
}

/** Creates the invoices, plays all stories at once, and returns when every story has ended or time is up. */
export async function playAll(
  of: { readonly shop: Shop; readonly chains: Chains },
  stories: readonly Story[],
  view: View,
): Promise<readonly Outcome[]> {
  const acts: Act[] = [];
  for (const story of stories) acts.push(await begin(of.shop, story));
  const theatre: Theatre = { ...of, acts, isOver: false, disturbed: undefined };
  const { evm, litecoin } = of.chains;
  const beats = [
    blocks(theatre, BLOCK_EVERY_MS.evm, () => evm.mine()),
    ...(litecoin === undefined ? [] : [blocks(theatre, BLOCK_EVERY_MS.litecoin, () => litecoin.mine())]),
  ];
  const plays = acts.map(async (act) => {
    try {
      await act.story.play(stageOf(theatre, act));
    } catch (error) {
      act.failure = error instanceof Error ? error.message : String(error);
    }
    act.isPlayed = true;
  });
  try {
    await watch(theatre, view);
  } finally {
    theatre.isOver = true;
    await Promise.allSettled([...plays, ...beats]);
  }
  return acts.map(({ story, invoice, failure }) => ({
    title: story.title,
    invoiceId: invoice.id,
    path: pathOf(invoice),
    differences: [...differences(story.ending, invoice), ...(failure === undefined ? [] : [failure])],
  }));
}

async function begin(shop: Shop, story: Story): Promise<Act> {
  const { title, usd, pair, expiresInSeconds } = story;
  const invoice = await shop.createInvoice({
    name: `Order: ${title}`,
    rawAmount: usd,
    currency: "USD",
    paymentMethods: [pair],
    ...(expiresInSeconds === undefined ? {} : { expiresInSeconds }),
  });
  return { story, invoice, note: "", isPlayed: false };
}

async function watch(theatre: Theatre, view: View): Promise<void> {
  const startMs = Date.now();
  for (;;) {
    await Promise.all(
      theatre.acts.map(async (act) => {
        act.invoice = await theatre.shop.invoice(act.invoice.id);
      }),
    );
    const passedMs = Date.now() - startMs;
    view.show(theatre.acts, Math.floor(passedMs / 1_000));
    if (theatre.acts.every(isOver) || passedMs > ALL_WITHIN_MS) return;
    await sleep(LOOK_EVERY_MS);
  }
}

function isOver({ story, invoice, failure, isPlayed }: Act): boolean {
  return isPlayed && (failure !== undefined || isAtEnd(story.ending, invoice));
}

/** Mines a chain's blocks, one after the other, until the play ends. */
async function blocks(theatre: Theatre, everyMs: number, mine: () => Promise<void>): Promise<void> {
  while (!theatre.isOver) {
    await mine();
    await sleep(everyMs);
  }
}

function stageOf(theatre: Theatre, act: Act): Stage {
  const holds = (isIt: () => boolean) => untilIn(theatre, isIt);
  const pay = async (units: (asset: Asset) => bigint) => {
    await holds(() => theatre.disturbed === undefined || theatre.disturbed === act);
    return send(theatre.chains, act, units);
  };
  return {
    pay: (percent = 100) => pay((asset) => (unitsOf(act.invoice, asset, "amount") * BigInt(percent)) / 100n),
    payRest: () => pay((asset) => unitsOf(act.invoice, asset, "amountDue")),
    until: (isIt) => holds(() => isIt(act.invoice)),
    note: (text) => {
      act.note = text;
    },
    beginDisturbing: async () => {
      await holds(() => theatre.acts.every((other) => other === act || isSafe(other)));
      theatre.disturbed = act;
    },
    takeBack: async (txHash) => {
      const { evm } = theatre.chains;
      const raw = await evm.rawTransaction(txHash);
      await evm.takeBackFrom(txHash);
      return {
        sendAgain: async () => {
          await evm.sendAgain(raw);
          await holds(() => act.invoice.status !== "AWAITING_PAYMENT");
          theatre.disturbed = undefined;
        },
      };
    },
  };
}

/** Whether no payment is in progress: the customer is waiting or has failed, or everything sent is confirmed. */
function isSafe({ story, invoice, failure }: Act): boolean {
  const isWaiting = story.ending.isLate === true && invoice.payments.length === 0;
  const isThere = invoice.payments.length === story.ending.payments;
  return (
    failure !== undefined || isWaiting || (isThere && invoice.payments.every(({ status }) => status === "CONFIRMED"))
  );
}

async function send({ evm, litecoin }: Chains, act: Act, units: (asset: Asset) => bigint): Promise<string> {
  const { pair } = act.story;
  const network = networkNamed(pair.network);
  const asset = network === undefined ? undefined : assetOn(network, pair.cryptocurrency);
  const to = methodOf(act.invoice, pair).address;
  if (asset === undefined || to === null) throw new Error(`nothing can be sent for ${act.story.title}`);
  if (litecoin !== undefined && network?.family === "bitcoin")
    return litecoin.pay(to, formatUnits(units(asset), asset.decimals));
  return asset.contract === null
    ? evm.sendNative({ to, units: units(asset) })
    : evm.sendToken({ contract: asset.contract, to, units: units(asset) });
}

function unitsOf(invoice: Invoice, asset: Asset, what: "amount" | "amountDue"): bigint {
  const method = invoice.paymentMethods.find(({ cryptocurrency }) => cryptocurrency === asset.code);
  const units = parseUnits(method?.[what] ?? "", asset.decimals);
  if (!units.ok) throw new Error(`no ${what} is asked in ${asset.code}`);
  return units.value;
}

function methodOf(invoice: Invoice, { cryptocurrency, network }: Pair) {
  const method = invoice.paymentMethods.find(
    (each) => each.cryptocurrency === cryptocurrency && each.network === network,
  );
  if (method === undefined) throw new Error(`the invoice has no method ${cryptocurrency} on ${network}`);
  return method;
}

async function untilIn(theatre: Theatre, isIt: () => boolean): Promise<void> {
  while (!isIt()) {
    if (theatre.isOver) throw new Error("the expected state was not reached in time");
    await sleep(LOOK_EVERY_MS / 2);
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
