// One shop: its process, its registered endpoint, and requests to it. All requests use HTTP, as customers and Edgetill do, so they are the same for
// every language.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import { expect } from "vitest";
import { findFreePort } from "../../../scripts/free-port.ts";
import { type Invoice, SEEN_WITHIN_MS, until } from "../detection/harness.ts";
import { openPage, type Page, pressButton } from "./customer.ts";
import { type Gate, openGate } from "./gate.ts";
import { originOf, type ShopProcess, startShopProcess } from "./shop-process.ts";
import type { ShopOfGuide } from "./shops.ts";
import { invoiceIdIn, type World } from "./world.ts";

export interface Purchase {
  readonly orderId: string;
  readonly invoiceId: string;
  readonly checkoutUrl: string;
}

interface WebhookEvent {
  readonly id: string;
  readonly type: string;
  readonly sequence: number;
  readonly data: { readonly invoice: Invoice };
}

interface Signing {
  readonly secret?: string;
  readonly ageSeconds?: number;
  /** A body that differs from the signed one. */
  readonly sent?: string;
}

export interface Stand {
  readonly gate: Gate;
  readonly webhookId: string;
  frontPage(): Promise<Page>;
  /** Presses the button on the front page, which leads to the checkout. */
  buy(): Promise<Purchase>;
  /** The order of a checkout, as Edgetill has it. */
  purchaseAt(checkoutUrl: string): Promise<Purchase>;
  /** An order's state, as the shop returns it in JSON. */
  stateOf(orderId: string): Promise<unknown>;
  orderPage(orderId: string): Promise<Page>;
  /** How often the shop printed that an order is paid, over all its runs. Waits until everything that it printed before has arrived. */
  timesPaid(orderId: string): Promise<number>;
  /** A new event about the order's invoice, in the form in which Edgetill sends it, with these changes. */
  eventOf(purchase: Purchase, change: Partial<Invoice> & { readonly sequence: number }): Promise<WebhookEvent>;
  /** Sends an event to the shop's endpoint, by default signed with its secret and the current time; returns the status. */
  deliver(event: WebhookEvent, signing?: Signing): Promise<number>;
  /** Sends any request to the endpoint. */
  post(body: string, headers?: Readonly<Record<string, string>>): Promise<number>;
  kill(): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
}

export async function openStand({ edgetill, key }: World, shop: ShopOfGuide): Promise<Stand> {
  const port = await findFreePort();
  const origin = originOf({ port });
  const folder = mkdtempSync(join(tmpdir(), `edgetill-shop-${shop.folder}-`));
  const gate = await openGate(edgetill.baseUrl);
  const endpoint = { url: `${origin}/webhooks`, events: ["invoice.*"] };
  const { id: webhookId, secret } = await edgetill.call<{ id: string; secret: string }>("POST", "/webhooks", endpoint);
  const variables = {
    EDGETILL_URL: gate.origin,
    EDGETILL_MERCHANT: edgetill.merchantId,
    EDGETILL_KEY: key,
    WEBHOOK_SECRET: secret,
  };
  const runs: ShopProcess[] = [];
  const firstEvents = new Map<string, WebhookEvent>();
  const start = async () =>
    void runs.push(await startShopProcess(shop, { port, state: join(folder, "state"), variables }));
  const kill = async () => runs.at(-1)?.kill();
  const close = async () => {
    await kill();
    await edgetill.call("DELETE", `/webhooks/${webhookId}`);
    await gate.close();
    rmSync(folder, { recursive: true });
  };
  const post: Stand["post"] = async (body, headers = {}) => {
    const init = { method: "POST", body, headers: { "content-type": "application/json", ...headers } };
    const response = await fetch(`${origin}/webhooks`, init);
    await response.arrayBuffer();
    return response.status;
  };
  const purchaseAt: Stand["purchaseAt"] = async (checkoutUrl) => {
    const invoiceId = invoiceIdIn(checkoutUrl);
    const { externalId } = await edgetill.invoice(invoiceId);
    return { orderId: externalId ?? "", invoiceId, checkoutUrl };
  };
  const linesOf = (orderId: string): number => {
    const printed = runs.map((run) => run.printed()).join("\n");
    return printed.split(`Order ${orderId} is paid`).length - 1;
  };
  const frontPage = () => openPage(`${origin}/`);
  const stand: Stand = {
    gate,
    webhookId,
    frontPage,
    buy: async () => {
      const led = await pressButton(await frontPage());
      if (!("location" in led)) throw new Error(`the button led to ${led.page.status} ${led.page.html}`);
      return purchaseAt(led.location);
    },
    purchaseAt,
    stateOf: async (orderId) => {
      const response = await fetch(`${origin}/orders/${orderId}`, { headers: { accept: "application/json" } });
      expect(response.status).toBe(200);
      return response.json();
    },
    orderPage: (orderId) => openPage(`${origin}/orders/${orderId}`),
    timesPaid: async (orderId) => {
      // Waits until the shop has printed the line of one more paid order, which comes after all earlier lines.
      const last = await stand.buy();
      await stand.deliver(await stand.eventOf(last, { status: "PAID", sequence: 100 }));
      await until(
        async () => linesOf(last.orderId),
        (lines) => lines > 0,
        SEEN_WITHIN_MS,
      );
      return linesOf(orderId);
    },
    eventOf: async ({ invoiceId }, { sequence, ...change }) => {
      const first = firstEvents.get(invoiceId) ?? (await readFirstEvent(edgetill, invoiceId));
      firstEvents.set(invoiceId, first);
      const invoice = { ...first.data.invoice, ...change };
      const type = `invoice.${invoice.status.toLowerCase()}`;
      return {
        ...first,
        id: `evt_${crypto.randomUUID()}`,
        type,
        event: type,
        sequence,
        data: { ...first.data, invoiceId: invoice.id, invoice },
      };
    },
    deliver: async (event, signing = {}) => {
      const body = JSON.stringify(event);
      const atMs = Date.now() - 1_000 * (signing.ageSeconds ?? 0);
      return post(signing.sent ?? body, signedHeaders({ id: event.id, body, secret: signing.secret ?? secret, atMs }));
    },
    post,
    kill,
    start,
    close,
  };
  await start().catch(async (error) => {
    await close();
    throw error;
  });
  return stand;
}

async function readFirstEvent({ call }: World["edgetill"], invoiceId: string): Promise<WebhookEvent> {
  const { data } = await call<{ data: readonly WebhookEvent[] }>("GET", `/events?invoiceId=${invoiceId}`);
  const [first] = data;
  if (first === undefined) throw new Error(`${invoiceId} has no event`);
  return first;
}

function signedHeaders(of: { id: string; body: string; secret: string; atMs: number }): Record<string, string> {
  const signature = new Webhook(of.secret).sign(of.id, new Date(of.atMs), of.body);
  const timestamp = String(Math.floor(of.atMs / 1_000));
  return { "webhook-id": of.id, "webhook-timestamp": timestamp, "webhook-signature": signature };
}
