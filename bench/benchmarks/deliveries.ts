// The cost of a delivery in addition to its POST, the delay of the first attempt, and whether a hanging endpoint affects others. Times are measured
// by the receiver, from its first POST to its last, on the same clock as the sender's.
import type { Context } from "../context.ts";
import { arrivalRate, type Group, Lab } from "../deliveries/lab.ts";
import { nowMs } from "../deliveries/messages.ts";
import { medianText } from "../interleave.ts";
import type { Merchant } from "../product.ts";
import type { Figure, Listing, Outcome } from "../report.ts";
import type { Served } from "../serve.ts";
import { pairedRatio, percentile, spread } from "../statistics.ts";
import { merchantWithTwoWallets } from "./create-targets.ts";

const PAID = ["invoice.paid"];
const CREATED = ["invoice.created"];
/** POSTs per window. */
const TO_ONE = 600;
const TO_EACH_OF_TEN = 100;

export async function deliveries(context: Context): Promise<Outcome> {
  return inLab(context, async (lab) => {
    const merchant = await lab.product.newMerchant();
    const other = await lab.product.newMerchant();
    const one = await lab.group(merchant, "one", { count: 1, events: PAID });
    const ten = await lab.group(other, "ten", { count: 10, events: PAID });
    const [ours, workerd, node, ours10, workerd10, node10] = await inTurn(context, [
      delivering(lab, one, TO_ONE),
      looping(lab, one, TO_ONE, "workerd"),
      looping(lab, one, TO_ONE, "Node"),
      delivering(lab, ten, TO_EACH_OF_TEN),
      looping(lab, ten, TO_EACH_OF_TEN, "workerd"),
      looping(lab, ten, TO_EACH_OF_TEN, "Node"),
    ]);
    const toOne = "deliveries to one endpoint";
    const toTen = "deliveries to ten endpoints";
    return {
      figures: [
        rate(toOne, ours, "the same signed POSTs, 6 at once, bare in workerd", workerd),
        rate(toOne, ours, "the same bare in Node", node),
        ...cpu(toOne, ours, "the same bare in workerd", workerd),
        rate(toTen, ours10, "ten such loops in workerd", workerd10),
        rate(toTen, ours10, "ten such loops in Node", node10),
        ...cpu(toTen, ours10, "ten such loops in workerd", workerd10),
      ],
    };
  });
}

export async function hungEndpoint(context: Context): Promise<Outcome> {
  return inLab(context, async (lab) => {
    const merchant = await lab.product.newMerchant();
    const nine = await lab.group(merchant, "nine", { count: 9, events: PAID });
    const hung = await lab.group(merchant, "hung", { count: 1, events: PAID, way: "hang" });
    const [beside, alone] = await inTurn(context, [
      { label: "nine endpoints beside one that hangs", run: () => besideHung(lab, nine, hung) },
      delivering(lab, nine, TO_EACH_OF_TEN),
    ]);
    return { figures: [rate("nine endpoints beside one that hangs", beside, "the nine alone", alone)] };
  });
}

const SAMPLES_A_BLOCK = 10;

/** One create at a time, each timed until its event reaches the receiver. */
export async function deliveryLatency(context: Context): Promise<Outcome> {
  return inLab(context, async (lab) => {
    const single = await merchantWithTwoWallets(lab.product);
    const twofold = await merchantWithTwoWallets(lab.product);
    const alone = await lab.group(single, "alone", { count: 1, events: CREATED });
    const first = await lab.group(twofold, "first", { count: 1, events: CREATED });
    const second = await lab.group(twofold, "second", { count: 1, events: CREATED, way: "hang" });
    /** Measures the first endpoint while the second one gets the same events, and either hangs or answers. */
    const besideSecond = async (isHung: boolean) => {
      if (isHung) await lab.hold();
      const told = await block(() => createLatency(lab, first));
      await lab.release();
      await lab.expect(second, SAMPLES_A_BLOCK);
      await lab.settled(first, second);
      return told;
    };
    const rounds = context.options.isQuick ? 2 : 6;
    const taken: Latencies = { bare: [], alone: [], besideWell: [], besideHung: [] };
    for (let round = 0; round <= rounds; round++) {
      context.progress(`from a create to its event, round ${round} of ${rounds}`);
      const bare = await block(() => bareLatency(lab, alone));
      const ofAlone = await block(() => createLatency(lab, alone));
      const besideWell = await besideSecond(false);
      const besideHung = await besideSecond(true);
      // The first round is a warm-up.
      if (round === 0) continue;
      taken.bare.push(bare);
      taken.alone.push(ofAlone);
      taken.besideWell.push(besideWell);
      taken.besideHung.push(besideHung);
    }
    return latencyOutcome(taken);
  });
}

/** The latencies of each round. */
interface Latencies {
  readonly bare: number[][];
  readonly alone: Told[][];
  readonly besideWell: Told[][];
  readonly besideHung: Told[][];
}

async function block<T>(sample: () => Promise<T>): Promise<T[]> {
  const samples: T[] = [];
  for (let i = 0; i < SAMPLES_A_BLOCK; i++) samples.push(await sample());
  return samples;
}

/** Both in milliseconds since the create was requested. */
interface Told {
  readonly answeredMs: number;
  readonly arrivedMs: number;
}

async function createLatency(lab: Lab, { key, merchant }: Group): Promise<Told> {
  const arrival = lab.expect({ key }, 1);
  const fromMs = nowMs();
  const { id, atMs } = await createInvoice(lab, merchant);
  const { arrivals, sample } = await arrival;
  const arrivedAtMs = arrivals[0]?.atMs;
  if (arrivedAtMs === undefined || JSON.parse(sample.body).data.invoiceId !== id) throw new Error("another event came");
  return { answeredMs: atMs - fromMs, arrivedMs: arrivedAtMs - fromMs };
}

async function createInvoice(
  { product }: Lab,
  merchant: Merchant,
): Promise<{ readonly id: string; readonly atMs: number }> {
  const answer = await product.served.fetch(merchant.path("/invoices"), {
    method: "POST",
    headers: { ...merchant.headers, "content-type": "application/json", "idempotency-key": crypto.randomUUID() },
    body: JSON.stringify({ name: "Order 1001", rawAmount: 25.5, customerEmail: "ada@example.com" }),
  });
  const { id }: { readonly id: string } = await answer.json();
  if (answer.status !== 201) throw new Error(`an invoice was refused: ${answer.status}`);
  return { id, atMs: nowMs() };
}

async function bareLatency(lab: Lab, group: Group): Promise<number> {
  const arrival = lab.expect(group, 1);
  const { atMs } = await lab.bareInNode(group, 1);
  const { arrivals } = await arrival;
  return (arrivals[0]?.atMs ?? Number.NaN) - atMs;
}

function latencyOutcome({ bare, alone, besideWell, besideHung }: Latencies): Outcome {
  const pick = (told: readonly Told[][], value: (each: Told) => number) => told.map((each) => each.map(value));
  const arrived = (told: readonly Told[][]) => pick(told, ({ arrivedMs }) => arrivedMs);
  const answered = (told: readonly Told[][]) => pick(told, ({ answeredMs }) => answeredMs);
  const afterAnswer = (told: readonly Told[][]) => pick(told, ({ answeredMs, arrivedMs }) => arrivedMs - answeredMs);
  const what = "from a create's request to its event at the receiver";
  const beside = `${what}, beside an endpoint that hangs`;
  return {
    figures: [
      latency(what, arrived(alone), "a bare POST from Node", bare),
      latency(what, arrived(alone), "from the request to its answer", answered(alone)),
      latency(beside, arrived(besideHung), "beside one that answers", arrived(besideWell)),
    ],
    listings: [
      timesListing([
        ["a bare POST from Node, to its arrival", bare],
        ["a create, to its answer", answered(alone)],
        ["a create, to its event's arrival", arrived(alone)],
        ["from the answer to the event's arrival", afterAnswer(alone)],
        ["the same beside a second endpoint that answers", afterAnswer(besideWell)],
        ["the same beside a second endpoint that hangs", afterAnswer(besideHung)],
      ]),
    ],
  };
}

function timesListing(rows: readonly (readonly [string, readonly (readonly number[])[]])[]): Listing {
  const cells = ([what, blocks]: (typeof rows)[number]) => {
    const sorted = blocks.flat().sort((a, b) => a - b);
    const at = (fraction: number) => percentile(sorted, fraction).toFixed(2);
    return [what, String(sorted.length), at(0), at(0.5), at(0.9), at(1)];
  };
  return {
    title: "From a change to its first attempt, milliseconds (below 0: the event came before the answer)",
    columns: ["what", "samples", "least", "median", "p90", "most"],
    rows: rows.map(cells),
  };
}

interface Way {
  readonly label: string;
  readonly run: () => Promise<number>;
  /** The process whose CPU is counted. */
  readonly served?: Served;
  /** POSTs per window. */
  readonly posts?: number;
}

interface Windows {
  readonly perSecond: readonly number[];
  /** CPU of the workerd process per POST; empty if it is not counted. */
  readonly cpuMs: readonly number[];
}

/** Runs each way once as a warm-up, then all ways in turn, round by round. The result has one entry per way, in order. */
async function inTurn<const T extends readonly Way[]>(
  context: Context,
  ways: T,
): Promise<{ readonly [K in keyof T]: Windows }>;
async function inTurn(context: Context, ways: readonly Way[]): Promise<Windows[]> {
  const rounds = context.options.isQuick ? 3 : 9;
  const windows = ways.map((): Readonly<Record<keyof Windows, number[]>> => ({ perSecond: [], cpuMs: [] }));
  for (let round = 0; round <= rounds; round++) {
    for (const [i, { label, run, served, posts = 1 }] of ways.entries()) {
      context.progress(`${label}, round ${round} of ${rounds}`);
      const cpuBefore = served?.cpuSeconds();
      const perSecond = await run();
      const cpuAfter = served?.cpuSeconds();
      if (round === 0) continue;
      windows[i]?.perSecond.push(perSecond);
      if (cpuBefore !== undefined && cpuAfter !== undefined) {
        windows[i]?.cpuMs.push(((cpuAfter - cpuBefore) * 1_000) / posts);
      }
    }
  }
  return windows;
}

function delivering(lab: Lab, group: Group, toEach: number): Way {
  const posts = toEach * group.endpoints.length;
  const run = async () => {
    await lab.owe(group, toEach);
    const seen = lab.expect(group, posts);
    await lab.wake(group);
    const perSecond = arrivalRate(await seen, group);
    await lab.settled(group);
    return perSecond;
  };
  return { label: `delivering to ${group.endpoints.length}`, run, served: lab.product.served, posts };
}

function looping(lab: Lab, group: Group, toEach: number, where: "workerd" | "Node"): Way {
  const posts = toEach * group.endpoints.length;
  const run = async () => {
    const seen = lab.expect(group, posts);
    if (where === "workerd") await lab.bareInWorkerd(group, toEach);
    else await lab.bareInNode(group, toEach);
    return arrivalRate(await seen, group);
  };
  const label = `bare POSTs to ${group.endpoints.length} from ${where}`;
  return where === "workerd" ? { label, run, served: lab.loop, posts } : { label, run };
}

/** The delivery rate to `healthy` while `hung` has as many pending deliveries, and answers none of them until those to `healthy` are done. */
async function besideHung(lab: Lab, healthy: Group, hung: Group): Promise<number> {
  await lab.owe(healthy, TO_EACH_OF_TEN);
  await lab.owe(hung, TO_EACH_OF_TEN);
  await lab.hold();
  const seen = lab.expect(healthy, TO_EACH_OF_TEN * healthy.endpoints.length);
  // The hanging group is woken first, so that it could block the others.
  await lab.wake(hung, healthy);
  const perSecond = arrivalRate(await seen, healthy);
  await lab.release();
  await lab.expect(hung, TO_EACH_OF_TEN);
  await lab.settled(healthy, hung);
  return perSecond;
}

async function inLab(context: Context, work: (lab: Lab) => Promise<Outcome>): Promise<Outcome> {
  const lab = await Lab.open(context);
  try {
    return await work(lab);
  } finally {
    lab.stop();
  }
}

function rate(what: string, ours: Windows, baseline: string, theirs: Windows): Figure {
  return {
    what: `${what}, POSTs/s`,
    baseline,
    ratio: pairedRatio(ours.perSecond, theirs.perSecond),
    measured: `${medianText(ours.perSecond, "/s")} against ${medianText(theirs.perSecond, "/s")}`,
  };
}

function cpu(what: string, ours: Windows, baseline: string, theirs: Windows): readonly Figure[] {
  if (ours.cpuMs.length === 0 || theirs.cpuMs.length === 0) return [];
  const ratio = pairedRatio(ours.cpuMs, theirs.cpuMs);
  const measured = `${medianText(ours.cpuMs, "ms")} against ${medianText(theirs.cpuMs, "ms")}`;
  return [{ what: `${what}, CPU`, baseline, ratio, measured }];
}

/** Compares medians over rounds in which both ways took turns. */
function latency(
  what: string,
  ours: readonly (readonly number[])[],
  baseline: string,
  theirs: readonly (readonly number[])[],
): Figure {
  const medians = (blocks: readonly (readonly number[])[]) => blocks.map((each) => spread(each).median);
  const measured = `${medianText(medians(ours), "ms")} against ${medianText(medians(theirs), "ms")}`;
  return { what, baseline, ratio: pairedRatio(medians(ours), medians(theirs)), measured };
}
