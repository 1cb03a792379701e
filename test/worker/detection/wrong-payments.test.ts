// 200 generated wrong payments (decisions 5, "Wrong payments"): the payer follows the page or gives up, and the merchant follows the recommendation.
// Counts how many get the right recommendation and end as paid or returned, and lists all others by kind.
import { expect, it } from "vitest";
import { Dice } from "../../support/dice.ts";
import {
  askedByPage,
  claim,
  end,
  forget,
  makeOrder,
  namedBy,
  type Order,
  openWorld,
  PAIRS,
  pay,
  unitsOf,
  type World,
} from "./wrong-payments-world.ts";

type Paid = Awaited<ReturnType<typeof pay>>;

const SHARED_KINDS = [
  "fee",
  "half",
  "late",
  "late and too little",
  "twice",
  "wrong coin",
  "wrong network",
  "dust",
  "hostile claim",
  "no invoice",
] as const;
type Kind = (typeof SHARED_KINDS)[number];
const OWN_KINDS: readonly Kind[] = ["fee", "half", "late", "late and too little", "twice", "dust"];
const WITHOUT_ORDER: readonly Kind[] = ["wrong coin", "wrong network", "no invoice"];

interface Scene {
  readonly world: World;
  readonly kind: Kind;
  readonly dice: Dice;
  /** The payer's order; undefined if there is no invoice. */
  readonly order: Order | undefined;
  readonly neighbours: readonly Order[];
  /** The payer's transfers. */
  readonly sent: Paid[];
  /** The neighbours' transfers for their own orders. */
  readonly foreign: Paid[];
  readonly faults: string[];
}

/** Typical fees of exchanges, and of networks, which are arbitrary decimals. */
const FEES = ["1", "0.5", "0.8", "1.5", "2", "5", "1.2347", "3.0871"];
const PRICES = [49.9, 20, 35.5, 64, 80, 120, 250];

async function begin(dice: Dice): Promise<Scene> {
  const place = dice.chance(0.3) ? "own" : "shared";
  const kind = dice.oneOf(place === "own" ? OWN_KINDS : SHARED_KINDS);
  const world = await openWorld(place);
  const isSamePrice = dice.chance(0.4);
  const price = () => (isSamePrice ? 49.9 : dice.oneOf(PRICES));
  const count = kind === "hostile claim" ? dice.between(1, 3) : dice.between(0, 3);
  const orders: Order[] = [];
  for (let n = 0; n <= count; n++) orders.push(await makeOrder(world, price()));
  const [order, ...neighbours] = dice.shuffled(orders);
  const facts = { world, kind, dice, sent: [], foreign: [], faults: [] };
  if (kind !== "no invoice" || order === undefined) return { ...facts, order, neighbours };
  // Closes all orders, and ends the watch for payments to them.
  for (const each of orders) {
    await end(each);
    await forget(each);
  }
  return { ...facts, order: undefined, neighbours: orders };
}

/** The payer makes a wrong payment of the scene's kind. */
async function err(scene: Scene): Promise<void> {
  const { world, kind, dice, order, sent } = scene;
  const address = order?.address ?? world.address;
  const units = order?.units ?? unitsOf("49.9", PAIRS[world.place].decimals);
  const send = async (amount: bigint, of = {}) => sent.push(await pay(world, address, amount, of));
  const fee = world.place === "own" ? units / 30n : unitsOf(dice.oneOf(FEES), 6);
  switch (kind) {
    case "fee":
      return void (await send(units - fee));
    case "hostile claim": {
      const amount = units - fee;
      await send(amount);
      const [first] = sent;
      const hostile = scene.neighbours[0];
      if (first !== undefined && hostile !== undefined) await claim(hostile, first);
      return;
    }
    case "half":
      return void (await send(units / 2n));
    case "late":
      if (order !== undefined) await end(order);
      return void (await send(units));
    case "late and too little":
      if (order !== undefined) await end(order);
      return void (await send(dice.chance(0.5) ? units - fee : units / 2n));
    case "twice":
      await send(units);
      return void (await send(units));
    case "wrong coin":
      return void (await send(units, { cryptocurrency: "USDC" }));
    case "wrong network":
      return void (await send(units, { network: "POL" }));
    case "dust":
      return void (await send(world.place === "own" ? 300n : 50_000n));
    case "no invoice":
      return void (await send(units));
  }
}

/** The payer looks at the page, and sends what it asks for. */
async function followPage(scene: Scene): Promise<void> {
  const { world, order, sent } = scene;
  if (order === undefined) return;
  const { status } = (await world.shop.get(`/invoices/${order.id}`)).body;
  if (status === "PAID" || status === "OVERPAID") return;
  const asked = await askedByPage(order, world.place);
  if (asked !== undefined) sent.push(await pay(world, order.address, asked));
}

/** The merchant does what is recommended, until only waiting is recommended. */
async function followAdvice(scene: Scene): Promise<void> {
  const { shop } = scene.world;
  for (let round = 0; round < 6; round++) {
    let isDone = true;
    const waiting = (await shop.get("/payments?status=UNMATCHED")).body.data;
    for (const { id } of waiting) if (await decideAboutPayment(scene, id)) isDone = false;
    const all = (await shop.get("/invoices")).body.data;
    for (const { id } of all) if (await decideAboutInvoice(scene, id)) isDone = false;
    if (isDone) return;
  }
  scene.faults.push("the advice does not end");
}

async function decideAboutPayment(scene: Scene, id: string): Promise<boolean> {
  const { shop } = scene.world;
  const { recommendation, txHash, amount, currency } = (await shop.get(`/payments/${id}`)).body;
  if (recommendation === undefined) scene.faults.push("an unmatched payment without an advice");
  if (recommendation === undefined || recommendation.action === "WAIT") return false;
  const { action, invoiceId, reason } = recommendation;
  const back = { action: "IGNORE", txHash: "ab".repeat(32) };
  const body = action === "ASSIGN" ? { action, invoiceId } : back;
  await checkAdvice(scene, { action, invoiceId, reason, txHash, amount: `${amount} ${currency}` });
  const made = await shop.post(`/payments/${id}/resolve`, { reason: "As advised", ...body });
  if (made.status !== 200) scene.faults.push(`${action} of a payment: ${made.text}`);
  return made.status === 200;
}

interface Advised {
  readonly action: string;
  readonly invoiceId: string | null;
  readonly reason: string;
  readonly txHash: string;
  readonly amount: string;
}

/** Judges the advice by what the payer meant, which the service does not know. */
async function checkAdvice(scene: Scene, advised: Advised): Promise<unknown> {
  const { world, kind, order, neighbours, sent, faults } = scene;
  const own = sent.find(({ txHash }) => txHash === advised.txHash);
  if (own === undefined) return faults.push("advice about a payment that nobody sent");
  if (advised.action === "ASSIGN") {
    return advised.invoiceId === order?.id ? 0 : faults.push(`WRONG ORDER (${advised.reason}, ${advised.amount})`);
  }
  const isOfSize = ({ units }: Order) => own.amountUnits * 10n >= units && own.amountUnits <= units * 2n;
  const status = order === undefined ? "" : (await world.shop.get(`/invoices/${order.id}`)).body.status;
  const isPaid = status === "PAID" || status === "OVERPAID";
  const isRight = WITHOUT_ORDER.includes(kind) || neighbours.some(isOfSize) || isPaid;
  return isRight ? 0 : faults.push(`returned although only one order fits (${advised.reason}, ${advised.amount})`);
}

async function decideAboutInvoice(scene: Scene, id: string): Promise<boolean> {
  const { shop } = scene.world;
  const { recommendation, status } = (await shop.get(`/invoices/${id}`)).body;
  const { action = "WAIT" } = recommendation ?? {};
  if (action === "WAIT") return false;
  const body = action === "RETURN" ? { action: "RETURNED", txHash: "cd".repeat(32) } : { action };
  const made = await shop.post(`/invoices/${id}/resolve`, { reason: "As advised", ...body });
  if (made.status !== 200) scene.faults.push(`${action} of an invoice in ${status}: ${made.text}`);
  return made.status === 200;
}

/**
 * Checks that a page names only transactions that the API names for its invoice and, if there are other orders, only those credited to its invoice.
 */
async function checkPages({ world, order, neighbours, faults }: Scene): Promise<void> {
  if (world.place === "own") return;
  const all = [...neighbours, ...(order === undefined ? [] : [order])];
  for (const each of all) {
    const named = await namedBy(each);
    for (const hash of named.page) if (!named.api.has(hash)) faults.push("a page says more than the API");
    const { payments } = (await world.shop.get(`/invoices/${each.id}`)).body;
    const credited = payments.map(({ txHash }: { readonly txHash: string }) => txHash);
    for (const hash of all.length === 1 ? [] : named.page)
      if (!credited.includes(hash)) faults.push("a page names a payment that may be another order's");
  }
}

/** Whether the payer's order is paid, or the payer's money was returned. */
async function isEnded({ world, kind, order, sent, neighbours }: Scene): Promise<boolean> {
  const { shop } = world;
  for (const { id } of neighbours) {
    const { payments } = (await shop.get(`/invoices/${id}`)).body;
    const hashes = payments.map(({ txHash }: { readonly txHash: string }) => txHash);
    if (sent.some(({ txHash }) => hashes.includes(txHash))) return false;
  }
  const invoice = order === undefined ? undefined : (await shop.get(`/invoices/${order.id}`)).body;
  if (invoice?.status === "PAID") return true;
  const isReturned = invoice?.resolution?.action === "RETURNED";
  if (invoice?.status === "OVERPAID") return isReturned;
  for (const { txHash } of sent) {
    const rows = (await shop.get(`/payments?txHash=${txHash}`)).body.data;
    for (const { status, id } of rows) {
      const { resolution } = (await shop.get(`/payments/${id}`)).body;
      const isBack = status === "IGNORED" && (kind === "dust" || resolution?.txHash !== undefined);
      if (!isBack && !isReturned) return false;
    }
    if (rows.length === 0) return false;
  }
  return true;
}

async function play(seed: number): Promise<Scene & { readonly isPaidOrReturned: boolean }> {
  const scene = await begin(new Dice(seed));
  const { world, dice, order, neighbours, sent, foreign } = scene;
  await err(scene);
  await checkPages(scene);
  const follows = dice.chance(0.7);
  const [first] = sent;
  if (world.place === "shared" && order !== undefined && first?.cryptocurrency === "USDT" && dice.chance(0.4))
    await claim(order, first).catch(() => "");
  if (follows) await followPage(scene);
  await followAdvice(scene);
  if (follows) await followPage(scene);
  await checkPages(scene);
  for (const each of neighbours) {
    if (scene.kind === "no invoice" || dice.chance(0.4)) continue;
    foreign.push(await pay(world, each.address, each.units));
  }
  await followAdvice(scene);
  for (const each of [...neighbours, ...(order === undefined ? [] : [order])]) {
    const { status } = (await world.shop.get(`/invoices/${each.id}`)).body;
    if (status === "AWAITING_PAYMENT") await end(each);
  }
  await followAdvice(scene);
  if (follows) await followPage(scene);
  await followAdvice(scene);
  await checkPages(scene);
  for (const each of [...neighbours, ...(order === undefined ? [] : [order])]) await forget(each);
  await followAdvice(scene);
  return { ...scene, isPaidOrReturned: await isEnded(scene) };
}

const EACH = 50;
it.each([0, 1, 2, 3])(
  "of 50 wrong payments at least 95 percent get the right recommendation and end paid or returned (%s)",
  async (part) => {
    const listed: string[] = [];
    for (let n = 0; n < EACH; n++) {
      const seed = 1_000 + part * EACH + n;
      const { kind, world, faults, isPaidOrReturned } = await play(seed);
      // No page may ever name a payment of another order, no matter who claims what.
      expect(faults.filter((fault) => /page/.test(fault))).toEqual([]);
      if (faults.length > 0 || !isPaidOrReturned)
        listed.push(
          `${seed} ${kind}, ${world.place}: ${[...faults, isPaidOrReturned ? "ended" : "NOT ENDED"].join("; ")}`,
        );
    }
    expect(EACH - listed.length, listed.join("\n")).toBeGreaterThanOrEqual(EACH * 0.95);
  },
);
