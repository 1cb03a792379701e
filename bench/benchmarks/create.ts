// Creating an invoice, against the least that a create must spend: without a payment method, and with an address of an extended key.
import type { Context } from "../context.ts";
import { ZPUB } from "../floor/derive.ts";
import { FLOOR_KEY } from "../floor/server.ts";
import { interleave, type Target, target } from "../interleave.ts";
import { COUNTER } from "../load/job.ts";
import { type Merchant, type Product, registerWallet } from "../product.ts";
import type { Figure, Outcome } from "../report.ts";
import { cpu, latency, throughput } from "./figures.ts";

/** The body of every create, of floor and product alike: a new customer each time, as the floor's batch of 3 has it. */
const CREATE_BODY = {
  name: "Order 1001",
  rawAmount: 25.5,
  currency: "USD",
  customerEmail: `customer-${COUNTER}@example.com`,
  customerName: "Ada Lovelace",
  description: "Two notebooks and a pen",
  redirectUrl: "https://shop.example.com/thanks",
};

/** Two wallets of which none is picked by itself, so that nothing is activated (decisions 4). */
const TWO_WALLETS = [
  {
    walletType: "DIRECT_WALLET",
    cryptocurrency: "ETH",
    network: "ETH",
    address: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
  },
  {
    walletType: "DIRECT_WALLET",
    cryptocurrency: "TRX",
    network: "TRX",
    address: "TJCnKsPa7y5okkXvQAidZBzqx3QyQ6sxMW",
  },
];
const XPUB_WALLET = {
  walletType: "XPUB_WALLET",
  cryptocurrency: "BTC",
  network: "BTC",
  xpub: ZPUB,
  derivationPath: "m/84'/0'/0'",
};
const BTC_ADDRESS = '"address":"(bc1q[0-9a-z]{38})"';
/** The concurrency at which performance.md sets its targets. */
const TARGET_CONNECTIONS = 16;

/** A merchant whose creates activate nothing. */
export async function merchantWithTwoWallets(product: Product): Promise<Merchant> {
  const merchant = await product.newMerchant();
  for (const wallet of TWO_WALLETS) await registerWallet(product, merchant, wallet);
  return merchant;
}

/** A merchant whose every create activates an address of its extended key. One a server: a key belongs to its first merchant. */
export async function merchantWithXpub(product: Product): Promise<Merchant> {
  const merchant = await product.newMerchant();
  await registerWallet(product, merchant, XPUB_WALLET);
  return merchant;
}

export function createTarget(label: string, product: Product, merchant: Merchant): Target {
  const path = merchant.path("/invoices");
  return target(label, product.served, { method: "POST", path, headers: merchant.headers, body: CREATE_BODY });
}

async function floorTarget(context: Context, label: string, path: string): Promise<Target> {
  const headers = { "x-api-key": FLOOR_KEY };
  return target(label, await context.floor(), { method: "POST", path, headers, body: CREATE_BODY });
}

export async function create(context: Context): Promise<Outcome> {
  const limited = await context.product();
  const unlimited = await context.product("no limiter", { rateLimit: 0 });
  const targets = [
    createTarget("create", limited, await merchantWithTwoWallets(limited)),
    await floorTarget(context, "FULL2", "/full2"),
    await floorTarget(context, "FULL", "/full"),
    createTarget("create without limiter", unlimited, await merchantWithTwoWallets(unlimited)),
  ] as const;
  const figures: Figure[] = [];
  for (const connections of context.plan.connections) {
    const [ours, full2, full, free] = await interleave(context, targets, { ...context.plan, connections });
    const isTarget = connections === TARGET_CONNECTIONS;
    const what = `create, no activation, c = ${connections}`;
    const against = { what, ours, baseline: "FULL2", theirs: full2 };
    figures.push(throughput({ ...against, target: isTarget ? { atLeast: 0.8 } : undefined }));
    figures.push(throughput({ what, ours, baseline: "FULL", theirs: full }));
    if (connections === 1) figures.push(latency({ ...against, target: { atMost: 1.3 } }));
    if (isTarget) figures.push(...cpu({ ...against, target: { atMost: 1.25 } }));
    figures.push(
      throughput({ what: `${what}, limiter off`, ours: free, baseline: "the same with it on", theirs: ours }),
    );
  }
  await assertRows(limited);
  return { figures: [...figures, await floorOverEcho(context)] };
}

export async function createWithXpub(context: Context): Promise<Outcome> {
  const product = await context.product();
  const merchant = await context.xpubMerchant(merchantWithXpub);
  const targets = [
    { ...createTarget("create with xpub", product, merchant), pattern: BTC_ADDRESS },
    { ...(await floorTarget(context, "FULLD", "/fulld")), pattern: BTC_ADDRESS },
    { ...(await floorTarget(context, "FULLM", "/fullm")), pattern: BTC_ADDRESS },
  ] as const;
  const figures: Figure[] = [];
  for (const connections of context.plan.connections) {
    const [ours, fulld, fullm] = await interleave(context, targets, { ...context.plan, connections });
    const isTarget = connections === TARGET_CONNECTIONS;
    const what = `create with an xpub method, c = ${connections}`;
    const against = { what, ours, baseline: "FULLD", theirs: fulld };
    figures.push(throughput({ ...against, target: isTarget ? { atLeast: 1 } : undefined }));
    figures.push(throughput({ what, ours, baseline: "FULLM", theirs: fullm }));
    if (connections === 1) figures.push(latency(against));
    if (isTarget) figures.push(...cpu(against));
  }
  await assertRows(product);
  return { figures };
}

/** How much of a create's rate the runtime and the load generator have in hand. */
async function floorOverEcho(context: Context): Promise<Figure> {
  const full2 = await floorTarget(context, "FULL2", "/full2");
  const echo = { ...(await floorTarget(context, "echo", "/echo")), expectStatus: 200, pattern: "customer-([0-9]+)@" };
  const connections = TARGET_CONNECTIONS;
  const [ours, theirs] = await interleave(context, [full2, echo] as const, { ...context.plan, connections });
  return throughput({ what: `FULL2, c = ${connections}`, ours, baseline: "an echo", theirs });
}

/** Every invoice stands with its timeline item and its event. */
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
