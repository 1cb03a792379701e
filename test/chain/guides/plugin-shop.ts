// A shop in PHP that makes the calls of a BTCPay Server plugin (plugins/): its process, and its pages.
import { createHmac } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import { spawnTied } from "../../../scripts/demo-story/tied-process.ts";
import { findFreePort } from "../../../scripts/free-port.ts";
import { PHP } from "../../support/interpreters.ts";
import { SEEN_WITHIN_MS, until } from "../detection/harness.ts";

export const PLUGINS = ["woocommerce", "prestashop", "magento"] as const;
export type Plugin = (typeof PLUGINS)[number];

const FOLDER = "test/chain/guides/plugins";

const Order = z.looseObject({
  status: z.string(),
  invoices: z.array(z.string()),
  notes: z.array(z.string()),
  /** How often the shop considered the order paid, and would have shipped it. */
  paid: z.number(),
});
type Order = z.infer<typeof Order>;
const State = z.object({ settings: z.looseObject({ secret: z.string() }) });

export interface PluginShop {
  readonly origin: string;
  /** Saves a server's address, and a key if given; returns the shop's message, or the URL of the key request that its button opens. */
  saveSettings(fields: Readonly<Record<string, string>>): Promise<string>;
  /** The message on the shop's settings page. */
  status(): Promise<string>;
  /** Sends a form, as a browser does. */
  post(url: string, form: URLSearchParams): Promise<string>;
  newOrder(amount: string): Promise<string>;
  /** The URL where the customer pays. */
  pay(order: string): Promise<string>;
  order(order: string): Promise<Order>;
  /** Marks the newest invoice of the order by hand. */
  mark(order: string, status: "Settled" | "Invalid"): Promise<string>;
  /** Sends a webhook about an event, by default with the shop's own secret; returns the status. */
  send(event: object, secret?: string): Promise<number>;
  /** All PHP warnings, from any request. */
  warnings(): string;
  close(): Promise<void>;
}

/** The webhook URL in the form of each plugin. */
const HOOKS: Readonly<Record<Plugin, string>> = {
  woocommerce: "/wc-api/btcpaygf_default/",
  prestashop: "/module/btcpay/webhook",
  magento: "/rest/V2/btcpay/webhook",
};

export async function openPluginShop(plugin: Plugin): Promise<PluginShop> {
  const folder = mkdtempSync(join(tmpdir(), `edgetill-${plugin}-`));
  const [state, log] = [join(folder, "state.json"), join(folder, "warnings.log")];
  const port = await findFreePort();
  const origin = `http://127.0.0.1:${port}`;
  const told = ["error_reporting=-1", "display_errors=0", "log_errors=1", `error_log=${log}`].flatMap((each) => [
    "-d",
    each,
  ]);
  const file = join(FOLDER, `${plugin}.php`);
  const php = spawnTied(["env", `SHOP_STATE=${state}`, PHP ?? "php", "-q", ...told, "-S", `127.0.0.1:${port}`, file]);
  const close = async () => {
    await php.stop();
    rmSync(folder, { recursive: true });
  };
  const ask = async (path: string, form?: URLSearchParams): Promise<unknown> => {
    const response = await fetch(new URL(path, origin), form && { method: "POST", body: form });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${plugin} ${path}: ${response.status} ${text}`);
    return JSON.parse(text);
  };
  const say = async (path: string, form?: URLSearchParams) => z.string().parse(await ask(path, form));
  const isThere = () =>
    fetch(origin).then(
      ({ ok }) => ok,
      () => false,
    );
  await until(isThere, Boolean, SEEN_WITHIN_MS).catch(async (error) => {
    await close();
    throw error;
  });
  return {
    origin,
    saveSettings: (fields) => say("/settings", new URLSearchParams(fields)),
    status: () => say("/settings"),
    post: say,
    newOrder: async (amount) => {
      const made = z.object({ number: z.string() }).parse(await ask("/orders", new URLSearchParams({ amount })));
      return made.number;
    },
    pay: (order) => say(`/orders/${order}/pay`, new URLSearchParams()),
    order: async (order) => Order.parse(await ask(`/orders/${order}`)),
    mark: (order, status) => say(`/orders/${order}/mark`, new URLSearchParams({ status })),
    send: async (event, secret) => {
      const key = secret ?? State.parse(JSON.parse(readFileSync(state, "utf8"))).settings.secret;
      const body = JSON.stringify(event);
      const signature = `sha256=${createHmac("sha256", key).update(body).digest("hex")}`;
      const headers = { "content-type": "application/json", "btcpay-sig": signature };
      return (await fetch(`${origin}${HOOKS[plugin]}`, { method: "POST", headers, body })).status;
    },
    warnings: () => (existsSync(log) ? readFileSync(log, "utf8") : ""),
    close,
  };
}
