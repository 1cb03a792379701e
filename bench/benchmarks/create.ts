// Creating an invoice, compared with the minimum cost of a create: without a payment method, with an address of an extended key, with an amount at
// a direct wallet, and for many merchants at once.
import type { Context } from "../context.ts";
import { interleave } from "../interleave.ts";
import type { Product } from "../product.ts";
import type { Figure, Outcome, Target as Wanted } from "../report.ts";
import {
  BTC_ADDRESS,
  createTarget,
  directTarget,
  floorTarget,
  freshDirectWallet,
  manyMerchantsTarget,
  merchantWithProof,
  merchantWithTwoWallets,
  merchantWithXpub,
} from "./create-targets.ts";
import { cpu, latency, throughput } from "./figures.ts";

/** The number of clients, and of merchants, in the benchmark of creates that are not grouped. */
const MERCHANTS = 64;
/** The number of connections for comparing CPU times, and for comparing the floor with an echo. */
const MAIN_CONNECTIONS = 16;

/** The throughput that performance.md requires, by number of connections. */
const WITHOUT_METHOD: ReadonlyMap<number, Wanted> = new Map([
  [16, { atLeast: 1.5 }],
  [64, { atLeast: 1.7 }],
]);
const WITH_METHOD: ReadonlyMap<number, Wanted> = new Map([
  [16, { atLeast: 1.6 }],
  [64, { atLeast: 1.9 }],
]);

export async function create(context: Context): Promise<Outcome> {
  const limited = await context.product();
  const unlimited = await context.product("no limiter", { rateLimit: 0 });
  const targets = [
    createTarget("create", limited, await merchantWithTwoWallets(limited)),
    await floorTarget(context, "FULL2"),
    await floorTarget(context, "FULL"),
    await floorTarget(context, "GROUP"),
    createTarget("create without limiter", unlimited, await merchantWithTwoWallets(unlimited)),
  ] as const;
  const figures: Figure[] = [];
  for (const connections of context.plan.connections) {
    const [ours, full2, full, group, free] = await interleave(context, targets, { ...context.plan, connections });
    const what = `create, no activation, c = ${connections}`;
    const against = { what, ours, baseline: "FULL2", theirs: full2 };
    figures.push(throughput({ ...against, target: WITHOUT_METHOD.get(connections) }));
    figures.push(throughput({ what, ours, baseline: "FULL", theirs: full }));
    figures.push(throughput({ what, ours, baseline: "GROUP", theirs: group }));
    if (connections === 1) figures.push(latency({ ...against, target: { atMost: 1.3 } }));
    if (connections === MAIN_CONNECTIONS) figures.push(...cpu({ ...against, target: { atMost: 1.25 } }));
    figures.push(
      throughput({ what: `${what}, limiter off`, ours: free, baseline: "the same with it on", theirs: ours }),
    );
    figures.push(throughput({ what: `GROUP, c = ${connections}`, ours: group, baseline: "FULL2", theirs: full2 }));
  }
  await assertRows(limited);
  await assertFloorRows(context);
  return { figures: [...figures, await floorOverEcho(context)] };
}

export async function createWithXpub(context: Context): Promise<Outcome> {
  const product = await context.product();
  const merchant = await context.xpubMerchant(merchantWithXpub);
  const targets = [
    { ...createTarget("create with xpub", product, merchant), pattern: BTC_ADDRESS },
    { ...(await floorTarget(context, "FULLD")), pattern: BTC_ADDRESS },
    { ...(await floorTarget(context, "FULLM")), pattern: BTC_ADDRESS },
    { ...(await floorTarget(context, "GROUPD")), pattern: BTC_ADDRESS },
  ] as const;
  const figures: Figure[] = [];
  for (const connections of context.plan.connections) {
    const [ours, fulld, fullm, groupd] = await interleave(context, targets, { ...context.plan, connections });
    const what = `create with an xpub method, c = ${connections}`;
    const against = { what, ours, baseline: "FULLD", theirs: fulld };
    figures.push(throughput({ ...against, target: WITH_METHOD.get(connections) }));
    figures.push(throughput({ what, ours, baseline: "FULLM", theirs: fullm }));
    figures.push(throughput({ what, ours, baseline: "GROUPD", theirs: groupd }));
    if (connections === 1) figures.push(latency(against));
    if (connections === MAIN_CONNECTIONS) figures.push(...cpu(against));
    figures.push(throughput({ what: `GROUPD, c = ${connections}`, ours: groupd, baseline: "FULLD", theirs: fulld }));
  }
  await assertRows(product);
  await assertFloorRows(context);
  return { figures };
}

export async function createWithDirect(context: Context): Promise<Outcome> {
  const product = await context.product();
  const merchant = await merchantWithProof(product, freshDirectWallet());
  const targets = [
    directTarget("create with direct", product, merchant),
    { ...(await floorTarget(context, "FULLD")), pattern: BTC_ADDRESS },
    { ...(await floorTarget(context, "GROUPD")), pattern: BTC_ADDRESS },
  ] as const;
  const figures: Figure[] = [];
  for (const connections of context.plan.connections) {
    const [ours, fulld, groupd] = await interleave(context, targets, { ...context.plan, connections });
    const what = `create with a direct method, c = ${connections}`;
    const against = { what, ours, baseline: "FULLD", theirs: fulld };
    figures.push(throughput({ ...against, target: WITH_METHOD.get(connections) }));
    figures.push(throughput({ what, ours, baseline: "GROUPD", theirs: groupd }));
    if (connections === 1) figures.push(latency(against));
    if (connections === MAIN_CONNECTIONS) figures.push(...cpu(against));
  }
  await assertRows(product);
  return { figures };
}

/** Measures creates that are not grouped, because there are as many merchants as clients. */
export async function createForManyMerchants(context: Context): Promise<Outcome> {
  const product = await context.product();
  const targets = [
    await manyMerchantsTarget(`create, ${MERCHANTS} merchants`, product, MERCHANTS),
    await floorTarget(context, "FULL2"),
    { ...(await floorTarget(context, "FULL2", MERCHANTS)), label: `FULL2, ${MERCHANTS} merchants` },
  ] as const;
  const window = { ...context.plan, connections: MERCHANTS };
  const [ours, full2, amongMany] = await interleave(context, targets, window);
  const what = `create, no activation, ${MERCHANTS} clients over ${MERCHANTS} merchants`;
  await assertRows(product);
  return {
    figures: [
      throughput({ what, ours, baseline: "FULL2, one merchant", theirs: full2, target: { atLeast: 0.9 } }),
      throughput({ what, ours, baseline: `FULL2, ${MERCHANTS} merchants`, theirs: amongMany }),
    ],
  };
}

/** Compares the floor's create rate with that of an echo, which is the maximum for the runtime and the load generator. */
async function floorOverEcho(context: Context): Promise<Figure> {
  const full2 = await floorTarget(context, "FULL2");
  const echo = { ...(await floorTarget(context, "echo")), expectStatus: 200, pattern: "customer-([0-9]+)@" };
  const connections = MAIN_CONNECTIONS;
  const [ours, theirs] = await interleave(context, [full2, echo] as const, { ...context.plan, connections });
  return throughput({ what: `FULL2, c = ${connections}`, ours, baseline: "an echo", theirs });
}

/** Checks that every invoice exists with its timeline item and event. */
async function assertRows(product: Product): Promise<void> {
  const row = await product.database
    .prepare(
      "SELECT (SELECT count(*) FROM invoices) AS invoices, (SELECT count(*) FROM timeline_items) AS items, (SELECT count(*) FROM events WHERE type = 'invoice.created') AS events",
    )
    .first<{ invoices: number; items: number; events: number }>();
  const { invoices, items, events } = row ?? { invoices: 0, items: 0, events: 0 };
  if (invoices === 0 || items !== invoices || events !== invoices) {
    throw new Error(`${invoices} invoices, ${items} timeline items, ${events} created events`);
  }
}

async function assertFloorRows(context: Context): Promise<void> {
  const answer = await (await context.floor()).fetch("/count");
  const { invoices, items }: { invoices: number; items: number } = await answer.json();
  if (invoices === 0 || items !== invoices) throw new Error(`the floor has ${invoices} invoices, ${items} items`);
}
