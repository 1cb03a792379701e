// Shops in PHP that make the calls of BTCPay Server's plugins (plugins/), from the key request to the last webhook. PHP warns about every missing
// value, and there must be no warnings.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SEEN_WITHIN_MS, until } from "../detection/harness.ts";
import { type Merchant, type Person, signIn } from "./person.ts";
import { openPluginShop, PLUGINS, type Plugin, type PluginShop } from "./plugin-shop.ts";
import { isTested, nameOf, type ShopOfGuide } from "./shops.ts";
import { invoiceIdIn, type World } from "./world.ts";

/** How each plugin names an order's states. */
const WORDS = {
  woocommerce: { paid: "processing", invalid: "failed", expired: "cancelled", partial: "failed" },
  prestashop: { paid: "paid", invalid: "failed", expired: "failed", partial: "failed" },
  magento: { paid: "processing", invalid: "invalid", expired: "canceled", partial: "underpaid" },
} as const satisfies Readonly<Record<Plugin, object>>;

/** The shortest expiry that a merchant can set. */
const SOON = { invoiceLifetimeSeconds: 60 };
const USUAL = { invoiceLifetimeSeconds: 3_600 };

interface InvoiceFacts {
  readonly id: string;
  readonly status: string;
  readonly payments: readonly { readonly status: string }[];
  readonly paymentMethods: readonly { readonly address: string | null; readonly amount: string | null }[];
}

interface Delivery {
  readonly id: string;
  readonly eventId: string;
  readonly status: string;
  readonly attempts: number;
}

/** Defines the tests of the plugins, in the environment that a test file has opened. */
export function tellPluginStories(worldOf: () => World): void {
  const stands = new Map<Plugin, Stand>();
  // Runs before all tests of the file, so that unpaid orders expire meanwhile.
  beforeAll(async () => {
    for (const plugin of PLUGINS) if (isTested(asShop(plugin))) stands.set(plugin, await openStand(worldOf(), plugin));
  });
  afterAll(async () => {
    for (const stand of stands.values()) await stand.close();
  });
  describe.each(PLUGINS.map((plugin) => ({ plugin, name: nameOf(asShop(plugin)) })))("the plugin for $name", (of) => {
    const test = isTested(asShop(of.plugin)) ? it : it.skip;
    let stand: Stand;
    beforeAll(() => {
      const opened = stands.get(of.plugin);
      if (opened !== undefined) stand = opened;
    });

    test("accepts a key that a user granted with exactly the requested permissions, and a key that was typed in", async () => {
      await connect(worldOf(), stand);
    });

    test("gets its order paid on a chain, and a forged or repeated webhook changes nothing", async () => {
      const { shop, merchant } = stand;
      const { order, invoice } = await stand.buy();
      const before = await shop.order(order);
      const forged = { type: "InvoiceSettled", invoiceId: invoice, storeId: merchant.id, overPaid: false };
      expect(await shop.send(forged, "0".repeat(64))).toBe(500);
      // With the right secret a webhook is accepted, so only the signature was wrong.
      expect(await shop.send({ ...forged, type: "InvoiceCreated" })).toBe(200);
      expect(await shop.order(order)).toEqual(before);
      await stand.payAll(invoice);
      await stand.untilOrder(order, stand.words.paid);
      await sendAgain(stand, invoice);
      expect(await shop.order(order)).toMatchObject({ status: stand.words.paid, paid: 1 });
    });

    test("marks an order that is paid twice as paid only once", async () => {
      const { order, invoice } = await stand.buy();
      await stand.payAll(invoice);
      await stand.untilOrder(order, stand.words.paid);
      await stand.payAll(invoice);
      await stand.untilInvoice(invoice, ({ status }) => status === "OVERPAID");
      await settled(stand);
      expect(await stand.shop.order(order)).toMatchObject({ status: stand.words.paid, paid: 1 });
    });

    test("learns that an invoice was cancelled, and gets a second invoice for the same order paid", async () => {
      const { order, invoice } = await stand.buy();
      // WooCommerce's plugin marks the invoice itself when the customer chooses another coin; with other plugins a user does this in the console.
      if (of.plugin === "woocommerce") expect(await stand.shop.mark(order, "Invalid")).toBe("Marked");
      else await stand.merchant.call("POST", `/invoices/${invoice}/cancel`);
      await stand.untilOrder(order, stand.words.invalid);
      const second = invoiceIdIn(await stand.shop.pay(order));
      expect(second).not.toBe(invoice);
      await stand.payAll(second);
      await stand.untilOrder(order, stand.words.paid);
      expect(await stand.shop.order(order)).toMatchObject({ invoices: [invoice, second], paid: 1 });
    });

    test("ships an order that was manually marked as settled, while its invoice still awaits payment", async () => {
      const { order, invoice } = await stand.buy();
      // Magento's module has a button for this; for the others a user does it in the console.
      if (of.plugin === "magento") expect(await stand.shop.mark(order, "Settled")).toBe("Marked");
      else
        await stand.merchant.call("POST", `/invoices/${invoice}/resolve`, { action: "MARK", reason: "paid in cash" });
      await stand.untilOrder(order, stand.words.paid);
      expect(await stand.read(invoice)).toMatchObject({ status: "AWAITING_PAYMENT", payments: [] });
    });

    test("learns that an invoice was unpaid or underpaid, and ships nothing for a late partial payment", async () => {
      const { left, words, shop } = stand;
      await stand.untilOrder(left.nothing.order, words.expired);
      await stand.untilInvoice(left.part.invoice, ({ status }) => status === "UNDERPAID");
      await stand.untilOrder(left.part.order, words.partial);
      await stand.untilOrder(left.late.order, words.expired);
      await stand.payPart(left.late.invoice, "7");
      await stand.untilInvoice(left.late.invoice, confirmed(1));
      await settled(stand);
      for (const { order } of Object.values(left)) expect(await shop.order(order)).toMatchObject({ paid: 0 });
      // The full amount, but too late. WooCommerce reads the invoice again and ships; PrestaShop ships if it reads the invoice after the last
      // confirmation.
      await stand.payAll(left.late.invoice);
      await stand.untilInvoice(left.late.invoice, confirmed(2));
      await settled(stand);
      const taken = { woocommerce: [1], prestashop: [0, 1], magento: [0] };
      expect(taken[of.plugin]).toContain((await shop.order(left.late.order)).paid);
    });

    test("reads no value that is missing from a response", async () => {
      expect(stand.shop.warnings()).toBe("");
      // Shows that PHP does report warnings.
      await fetch(`${stand.shop.origin}/orders`, { method: "POST" });
      expect(stand.shop.warnings()).toMatch(/^\[.*\] PHP Warning: {2}Undefined array key "amount"/);
    });
  });
}

const confirmed =
  (count: number) =>
  ({ payments }: InvoiceFacts) =>
    payments.filter(({ status }) => status === "CONFIRMED").length === count;

interface Sale {
  readonly order: string;
  readonly invoice: string;
}

interface Stand {
  readonly shop: PluginShop;
  readonly person: Person;
  readonly merchant: Merchant;
  readonly words: (typeof WORDS)[Plugin];
  readonly plugin: Plugin;
  /** Expiring orders: the first gets no payment, the second a partial one, the third a late one. */
  readonly left: { readonly nothing: Sale; readonly part: Sale; readonly late: Sale };
  buy(): Promise<Sale>;
  read(invoice: string): Promise<InvoiceFacts>;
  /** Sends the amount that the invoice asks for. */
  payAll(invoice: string): Promise<void>;
  /** Sends a different amount, which the user assigns to the invoice before it is confirmed. */
  payPart(invoice: string, amount: string): Promise<void>;
  untilOrder(order: string, status: string): Promise<void>;
  untilInvoice(invoice: string, isIt: (facts: InvoiceFacts) => boolean): Promise<void>;
  close(): Promise<void>;
}

async function openStand(world: World, plugin: Plugin): Promise<Stand> {
  const person = await signIn(world.edgetill.baseUrl);
  const merchant = await person.openMerchant(plugin);
  const shop = await openPluginShop(plugin);
  const read = (invoice: string) => merchant.call<InvoiceFacts>("GET", `/invoices/${invoice}`);
  const buy = async () => {
    const order = await shop.newOrder("10.00");
    const link = await shop.pay(order);
    await world.choose(link);
    return { order, invoice: invoiceIdIn(link) };
  };
  const untilOrder: Stand["untilOrder"] = async (order, status) => {
    await world.mineUntil(
      () => shop.order(order),
      (each) => each.status === status,
    );
  };
  const payPart: Stand["payPart"] = async (invoice, amount) => {
    const { paymentMethods } = await read(invoice);
    const hash = await world.send(paymentMethods[0]?.address ?? "", amount);
    type Listed = { readonly data: readonly { readonly id: string; readonly status: string }[] };
    await world.mine();
    const { data } = await until(
      () => merchant.call<Listed>("GET", `/payments?txHash=${hash}`),
      (listed) => listed.data.length > 0,
      SEEN_WITHIN_MS,
    );
    const [payment] = data;
    if (payment?.status !== "UNMATCHED") throw new Error(`${amount} was not asked for, and is ${payment?.status}`);
    const assign = { action: "ASSIGN", invoiceId: invoice, reason: "the customer wrote to us" };
    await merchant.call("POST", `/payments/${payment.id}/resolve`, assign);
  };
  const close = () => shop.close();
  try {
    const question = await shop.saveSettings({ server: world.edgetill.baseUrl });
    const { to = "", form } = await person.answer(question, merchant);
    expect([to.startsWith(`${shop.origin}/`), await shop.post(to, form)]).toEqual([true, "connected"]);
    await merchant.call("PATCH", "/settings", SOON);
    const left = { part: await buy(), late: await buy(), nothing: await buy() };
    await payPart(left.part.invoice, "4");
    await merchant.call("PATCH", "/settings", USUAL);
    return {
      shop,
      person,
      merchant,
      words: WORDS[plugin],
      plugin,
      left,
      buy,
      read,
      payAll: async (invoice) => {
        const [method] = (await read(invoice)).paymentMethods;
        await world.send(method?.address ?? "", method?.amount ?? "");
      },
      payPart,
      untilOrder,
      untilInvoice: async (invoice, isIt) => void (await world.mineUntil(() => read(invoice), isIt)),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Offers the shop invalid keys, then connects it in every way that the plugin supports. */
async function connect(world: World, { plugin, shop, person, merchant }: Stand): Promise<void> {
  const server = world.edgetill.baseUrl;
  expect(await shop.status()).toBe("connected");
  // Invalid lists of permissions: one has too many, the other only the first.
  const question = await shop.saveSettings({ server });
  const { to = "", form } = await person.answer(question, merchant);
  const more = new URLSearchParams(form);
  more.append("permissions[]", `btcpay.store.canmanageinvoicestatus:${merchant.id}`);
  const less = new URLSearchParams([...form].slice(0, 2));
  if (plugin !== "magento") for (const wrong of [more, less]) expect(await shop.post(to, wrong)).toMatch(/permissions/);
  else expect(await shop.post(to.replace("secret=", "secret=0"), form)).toBe("Forbidden.");
  expect(await shop.post(to, form)).toBe("connected");
  if (plugin === "woocommerce") await enterOwnKey(server, shop, merchant);
  if (plugin === "prestashop") await enterShownKey({ server, shop, person, merchant, question });
  expect(await shop.status()).toBe("connected");
  await forgetOldEndpoints(merchant);
}

/** WooCommerce's plugin registers another endpoint whenever it gets a key, and knows only the secret of the newest one. Ids sort by time. */
async function forgetOldEndpoints({ call }: Merchant): Promise<void> {
  const endpoints = await call<readonly { readonly id: string }[]>("GET", "/webhooks");
  const [newest, ...old] = endpoints
    .map(({ id }) => id)
    .toSorted()
    .toReversed();
  expect(newest).toMatch(/^whk_/);
  for (const id of old) await call("DELETE", `/webhooks/${id}`);
}

/** A secret key with the permissions that the guide names for WooCommerce. */
async function enterOwnKey(server: string, shop: PluginShop, { id, call }: Merchant): Promise<void> {
  const rights = ["INVOICE_VIEW", "INVOICE_CREATE", "INVOICE_UPDATE", "INVOICE_CANCEL", "MERCHANT_VIEW", "WALLET_VIEW"];
  const hooks = ["WEBHOOK_VIEW", "WEBHOOK_CREATE", "WEBHOOK_UPDATE", "WEBHOOK_DELETE"];
  const enter = async (permissions: readonly string[]) => {
    const body = { name: "By hand", kind: "SECRET", permissions };
    const { secret: key } = await call<{ readonly secret: string }>("POST", "/api-keys", body);
    return shop.saveSettings({ server, key, store: id });
  };
  expect(await enter([...rights, ...hooks, "PAYMENT_RESOLVE"])).toMatch(/permissions/);
  expect(await enter([...rights, ...hooks])).toBe("connected");
}

interface Shown extends Pick<Stand, "shop" | "person" | "merchant"> {
  readonly server: string;
  readonly question: string;
}

/** A request without a redirect URL, as from the "Create API key" button: the page shows the key. */
async function enterShownKey({ server, shop, person, merchant, question }: Shown): Promise<void> {
  const shown = new URL(question);
  shown.searchParams.delete("redirect");
  const { to, form } = await person.answer(shown.href, merchant);
  const key = form.get("apiKey") ?? "";
  expect(to).toBeUndefined();
  const withBar = key.replace("ak", "ak_");
  expect(await shop.saveSettings({ server, key: withBar, store: "" })).toMatch(/alnum/);
  expect(await shop.saveSettings({ server, key, store: "" })).toBe("connected");
}

/** The deliveries to the shop's endpoints, once all of them are accepted. */
async function settled({ merchant }: Stand): Promise<readonly (Delivery & { readonly path: string })[]> {
  const endpoints = await merchant.call<readonly { readonly id: string }[]>("GET", "/webhooks");
  const read = async () => {
    const lists = endpoints.map(async ({ id }) => {
      const path = `/webhooks/${id}/deliveries`;
      const { data } = await merchant.call<{ readonly data: readonly Delivery[] }>("GET", `${path}?limit=100`);
      return data.map((delivery) => ({ ...delivery, path: `${path}/${delivery.id}` }));
    });
    return (await Promise.all(lists)).flat();
  };
  return until(read, (all) => all.every(({ status }) => status === "SUCCEEDED"), SEEN_WITHIN_MS);
}

/** Redelivers every webhook of an invoice, and waits until the shop accepts it. */
async function sendAgain(stand: Stand, invoice: string): Promise<void> {
  const { merchant } = stand;
  type Events = { readonly data: readonly { readonly id: string }[] };
  const { data: events } = await merchant.call<Events>("GET", `/events?invoiceId=${invoice}`);
  const all = (await settled(stand)).filter(({ eventId }) => events.some(({ id }) => id === eventId));
  expect(all.length).toBeGreaterThan(2);
  for (const { path } of all) await merchant.call("POST", `${path}/redeliver`);
  await Promise.all(
    all.map(({ path, attempts }) =>
      until(
        () => merchant.call<Delivery>("GET", path),
        (now) => now.attempts > attempts && now.status === "SUCCEEDED",
        SEEN_WITHIN_MS,
      ),
    ),
  );
}

function asShop(plugin: Plugin): ShopOfGuide {
  return { name: plugin, folder: plugin, program: "php" };
}
