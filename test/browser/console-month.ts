// Fills a merchant as a real month would: invoices in every state, paid on the shared chain, for customers with long names and without names. For
// screenshots of the console and tests of its pages.
import { evmChainAt } from "../../scripts/demo-story/evm-chain.ts";
import type { Invoice, Pair, shopApi } from "../../scripts/demo-story/shop.ts";
import { until } from "../../scripts/demo-story/until.ts";
import { assetOn } from "../../src/chains/registry/networks.ts";
import { parseUnits } from "../../src/lib/money.ts";
import { network } from "../support/named-network.ts";
import { litecoinWallet, randomHex, xpubWallet } from "../support/wallet-bodies.ts";
import { openOffice } from "./console-office.ts";
import { BAG, GRINDER } from "./product-pictures.ts";
import { changeDatabase, endInvoiceIn, type Testbed } from "./testbed.ts";

type Shop = Pick<ReturnType<typeof shopApi>, "call" | "registerWallet" | "createInvoice" | "invoice" | "cancelInvoice">;
type Chain = Awaited<ReturnType<typeof evmChainAt>>;

/** What happens to an invoice. */
export type Course =
  | "awaiting"
  | "confirming"
  | "paid"
  | "overpaid"
  | "underpaid"
  | "expired"
  | "cancelled"
  | "late"
  | "open";

export interface Month {
  readonly merchantId: string;
  /** The newest invoice for each course. */
  readonly invoices: Readonly<Record<Course, string>>;
  /** The larger of two payments that match no invoice. */
  readonly unmatched: string;
}

interface Order {
  readonly course: Course;
  readonly name: string;
  readonly rawAmount: number;
  readonly currency?: string;
  readonly customerEmail?: string;
  readonly customerName?: string;
  readonly customerPhoneNumber?: string;
  readonly customerAddress?: string;
  readonly description?: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

const LONG_NAME =
  "Six months of the large weekend box with oat milk, two bags of single origin espresso, filters, and delivery to the third floor";
const LONG_EMAIL = "maria-elisabeth.von-habsburg-lothringen+wholesale-orders@purchasing.example-roastery.example.com";

const ANN = {
  customerEmail: "ann.miller@example.com",
  customerName: "Ann Miller",
  customerPhoneNumber: "+49 30 901820",
  customerAddress: "Harbour street 12, third floor\n10115 Berlin",
};

const USDT = { cryptocurrency: "USDT", network: "ETH" } as const;
/**
 * An inexact amount is credited only if a single invoice is open for its coin, so these courses use coins of their own. The `confirming` course
 * requires many confirmations.
 */
const PAID_IN: Partial<Record<Course, Pair>> = {
  overpaid: { cryptocurrency: "DAI", network: "ETH" },
  underpaid: { cryptocurrency: "ETH", network: "ETH" },
  confirming: { cryptocurrency: "USDC", network: "ETH" },
};

const ORDERS: readonly Order[] = [
  { course: "awaiting", name: "Espresso beans, 1 kg", rawAmount: 24.9, ...ANN },
  { course: "awaiting", name: LONG_NAME, rawAmount: 1_289.5, currency: "EUR", customerEmail: LONG_EMAIL },
  { course: "open", name: "Donation to the harbour choir", rawAmount: 0 },
  { course: "confirming", name: "Hand grinder", rawAmount: 119, customerEmail: "kenji.watanabe@example.com" },
  {
    course: "paid",
    name: "Wholesale order of May",
    rawAmount: 8_450.75,
    customerEmail: LONG_EMAIL,
    description:
      "Forty bags for the three cafés at the harbour. Deliver on Tuesday before eight in the morning, through the yard; the front door is locked until nine.",
    metadata: { cart: "9f2c7b", salesperson: "Bartholomew Featherstonehaugh", "warehouse-location": "H-17, shelf 3" },
  },
  { course: "overpaid", name: "Filter papers, 500", rawAmount: 18, customerEmail: "o.okafor@example.com" },
  { course: "underpaid", name: "Espresso machine, refurbished", rawAmount: 640, customerEmail: "lena@example.com" },
  { course: "expired", name: "Coffee course, Saturday", rawAmount: 75, currency: "GBP" },
  { course: "cancelled", name: "Cups, set of six", rawAmount: 42, customerName: "Tomás Ñúñez" },
  {
    course: "late",
    name: "Gift card",
    rawAmount: 50,
    customerEmail: "priya.raman@example.com",
    customerName: "Priya Raman",
  },
];

/** The orders of one day. */
const USUAL: readonly Order[] = [
  { course: "paid", name: "Espresso beans, 1 kg", rawAmount: 24.9, ...ANN },
  { course: "paid", name: "Filter coffee subscription", rawAmount: 39.9, customerEmail: "j.fernandez@example.com" },
  { course: "paid", name: "Hand grinder and a bag of beans", rawAmount: 138.4, customerEmail: "noor@example.com" },
  { course: "expired", name: "Coffee course, Saturday", rawAmount: 75 },
];

const PRODUCTS = [
  { name: "Espresso beans, 1 kg", price: 24.9, image: BAG, description: "Roasted on Monday, sent on Tuesday." },
  { name: LONG_NAME, price: 1_289.5, currency: "EUR", askForName: true, askForAddress: true },
  { name: "Donation to the harbour choir", price: 0 },
  { name: "Cups, set of six", price: 42, isActive: false },
  {
    name: "Hand grinder",
    price: 119,
    image: GRINDER,
    askForAddress: true,
    askForPhoneNumber: true,
    description: "Steel burrs in a body of walnut. Grinds for one pot in a minute, and fits into a rucksack.",
  },
];

const WITHIN_MS = 120_000;
const QUARTER_MS = 15 * 60_000;
const DAY_MS = 24 * 3_600_000;

interface Fill {
  readonly testbed: Testbed;
  readonly shop: Shop & { readonly merchantId: string };
  /** Days between the sales, oldest first; if empty, all sales are today. */
  readonly daysBetween?: readonly number[];
}

/** Today's orders cover every course; the sales before them are moved into the past. */
export async function fillMonth({ testbed, shop, daysBetween = [] }: Fill): Promise<Month> {
  const chain = await evmChainAt(testbed.chainUrl);
  const address = await openForTrade(shop);
  for (const [place, days] of daysBetween.entries()) {
    const sold = USUAL.map((order) => ({ ...order, rawAmount: order.rawAmount * (1 + ((place * 7) % 5) / 4) }));
    await sell({ testbed, shop, chain }, sold);
    shiftBack(testbed, shop.merchantId, days * DAY_MS + 5 * QUARTER_MS);
  }
  const office = await openOffice({ testbed, shop });
  const sold = await sell({ testbed, shop, chain }, ORDERS);
  const unmatched = await receiveUnasked({ testbed, shop, chain }, address);
  await enableLate(testbed, shop);
  await office.settle();
  return { merchantId: shop.merchantId, invoices: sold as Month["invoices"], unmatched };
}

/** Registers the shop's wallets and products; returns the address that receives all coins except Bitcoin. */
async function openForTrade(shop: Shop): Promise<string> {
  const address = `0x${randomHex(20)}`;
  const direct = { walletType: "DIRECT_WALLET", address };
  for (const [course, pair] of Object.entries({ paid: USDT, ...PAID_IN }))
    await shop.registerWallet({ ...direct, ...pair, requiredConfirmations: course === "confirming" ? 64 : 2 });
  await shop.registerWallet(xpubWallet());
  for (const product of PRODUCTS) await shop.call("POST", "/products", product);
  return address;
}

/** Registers a wallet that invoices use only from tomorrow on, as if it had just been enabled: until then the team can object. */
async function enableLate(testbed: Testbed, shop: Shop): Promise<void> {
  const wallet = await shop.registerWallet({ ...litecoinWallet(), requiredConfirmations: 2 });
  changeDatabase(testbed, (database) => {
    const usableFromMs = Date.now() + DAY_MS;
    database.prepare("UPDATE wallets SET usable_from_ms = ? WHERE id = ?").run(usableFromMs, wallet.id);
  });
}

interface Area {
  readonly testbed: Testbed;
  readonly shop: Shop;
  readonly chain: Chain;
}

interface Sale {
  readonly course: Course;
  readonly invoice: Invoice;
}

/** Creates the orders, and takes each through its course. */
async function sell(place: Area, orders: readonly Order[]): Promise<Readonly<Partial<Record<Course, string>>>> {
  const { shop, chain, testbed } = place;
  const sales: Sale[] = [];
  for (const [number, { course, ...fields }] of orders.entries()) {
    const externalId = `2026-${randomHex(3)}-${number + 1}`;
    sales.push({
      course,
      invoice: await shop.createInvoice({ ...fields, externalId, paymentMethods: [PAID_IN[course] ?? USDT] }),
    });
  }
  const of = (...courses: readonly Course[]) => sales.filter(({ course }) => courses.includes(course));
  for (const sale of of("confirming", "paid", "overpaid", "underpaid")) await pay(chain, sale);
  for (const { invoice } of of("cancelled")) await shop.cancelInvoice(invoice.id);
  await mineUntil(place, of("paid"), "PAID");
  await mineUntil(place, of("overpaid"), "OVERPAID");
  await mineUntil(place, of("confirming"), "PENDING_CONFIRMATION");
  for (const { invoice } of of("expired", "underpaid", "late")) endInvoiceIn(testbed, invoice.id, 0);
  await mineUntil(place, of("expired", "late"), "EXPIRED");
  await mineUntil(place, of("underpaid"), "UNDERPAID");
  for (const sale of of("late")) await pay(chain, sale);
  for (const { invoice } of of("late")) await mined(place, invoice, ({ needsReview }) => needsReview === true);
  return Object.fromEntries(sales.map(({ course, invoice }) => [course, invoice.id]));
}

const PERCENT: Partial<Record<Course, bigint>> = { overpaid: 150n, underpaid: 50n };

async function pay(chain: Chain, { course, invoice }: Sale): Promise<void> {
  const [method] = invoice.paymentMethods.filter(({ status }) => status === "ACTIVE");
  if (method?.address == null || method.amount === null) throw new Error(`${invoice.id} asks for nothing`);
  const { address, amount, cryptocurrency } = method;
  await send(chain, { code: cryptocurrency, to: address, amount, percent: PERCENT[course] ?? 100n });
}

interface Sent {
  readonly code: string;
  readonly to: string;
  readonly amount: string;
  readonly percent: bigint;
}

async function send(chain: Chain, { code, to, amount, percent }: Sent): Promise<void> {
  const asset = assetOn(network("ETH"), code);
  const units = asset === undefined ? undefined : parseUnits(amount, asset.decimals);
  if (asset === undefined || !units?.ok) throw new Error(`${amount} ${code} cannot be sent`);
  const payment = { to, units: (units.value * percent) / 100n };
  await (asset.contract === null
    ? chain.sendNative(payment)
    : chain.sendToken({ ...payment, contract: asset.contract }));
}

/** Makes two transfers that belong to no invoice; returns the payment of the first. */
async function receiveUnasked({ shop, chain }: Area, to: string): Promise<string> {
  const amounts = ["77.123456", "3.5"];
  for (const amount of amounts) await send(chain, { code: "USDT", to, amount, percent: 100n });
  const read = async () => {
    await chain.mine();
    return shop.call<List<{ readonly id: string; readonly amount: string }>>("GET", "/payments?status=UNMATCHED");
  };
  const { data } = await until(read, (list) => list.data.length === amounts.length, WITHIN_MS);
  const first = data.find(({ amount }) => amount === amounts[0]);
  if (first === undefined) throw new Error(`no payment of ${amounts[0]} USDT`);
  return first.id;
}

interface List<Row> {
  readonly data: readonly Row[];
}

async function mineUntil(place: Area, sales: readonly Sale[], status: Invoice["status"]): Promise<void> {
  for (const { invoice } of sales) await mined(place, invoice, (now) => now.status === status);
}

async function mined({ shop, chain }: Area, { id }: Invoice, isIt: (now: Invoice) => boolean): Promise<void> {
  let last = await shop.invoice(id);
  const read = async () => {
    if (!isIt(last)) await chain.mine();
    last = await shop.invoice(id);
    return last;
  };
  await until(read, isIt, WITHIN_MS);
}

/** Columns that contain a time, not a duration. */
const MOMENT = /(_at|^time|^at|_until|_from|_after)_ms$/;

/** Moves all of a merchant's data into the past, by whole quarter hours so that its reports stay correct. */
export function shiftBack(testbed: Testbed, merchantId: string, ms: number): void {
  changeDatabase(testbed, (database) => {
    for (const { name: table } of database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all()) {
      const columns = database.prepare(`SELECT name FROM pragma_table_info('${table}')`).all();
      const names = columns.map(({ name }) => String(name));
      const rows = rowsOfMerchant(String(table), names);
      if (rows === undefined) continue;
      for (const column of names.filter((name) => MOMENT.test(name))) {
        const change = (value: string) =>
          database.prepare(`UPDATE ${table} SET ${column} = ${value} WHERE ${rows} AND ${column} <> 0`).run(merchantId);
        // Done in two steps, because the new time of one row may equal the old time of another, and would violate a unique key.
        change(`${ms} - ${column}`);
        change(`-${column}`);
      }
    }
  });
}

function rowsOfMerchant(table: string, columns: readonly string[]): string | undefined {
  if (table === "merchants") return "id = ?";
  if (columns.includes("merchant_id")) return "merchant_id = ?";
  return table === "timeline_items" ? "invoice_id IN (SELECT id FROM invoices WHERE merchant_id = ?)" : undefined;
}
