// Code that the delivery benchmarks share: the product with a merchant and its endpoints, the receiver, and the two bare loops.
import { Webhook } from "standardwebhooks";
import { bundleWorker } from "../bundle.ts";
import type { Context } from "../context.ts";
import type { Merchant, Product } from "../product.ts";
import { type Served, serve } from "../serve.ts";
import { startCompanion } from "./companion.ts";
import type { BareJob, Seen } from "./messages.ts";
import type { Began, Jobs } from "./poster.ts";
import type { Question, Told } from "./receiver.ts";
import { seedDeliveries } from "./seed-deliveries.ts";

/** As many POSTs as the product has in progress to one endpoint (src/notifications/deliveries/round.ts). */
const POSTS_AT_ONCE = 6;
const SETTLED_WITHIN_MS = 30_000;
const LOOK_EVERY_MS = 10;

interface Endpoint {
  readonly id: string;
  readonly secret: string;
  readonly url: string;
}

/** Endpoints whose arrivals are counted together. */
export interface Group {
  readonly key: string;
  readonly merchant: Merchant;
  readonly endpoints: readonly Endpoint[];
}

export class Lab {
  readonly product: Product;
  readonly loop: Served;
  readonly #receiver = startCompanion<Question, Told>("receiver.ts");
  readonly #poster = startCompanion<Jobs, Began>("poster.ts");
  #next: number;

  private constructor(product: Product, loop: Served, from: number) {
    this.product = product;
    this.loop = loop;
    this.#next = from;
  }

  static async open(context: Context): Promise<Lab> {
    const product = await context.product("deliveries");
    return new Lab(product, await context.keep(serveLoop()), context.freshNumbers().from);
  }

  stop(): void {
    this.#receiver.stop();
    this.#poster.stop();
  }

  /** Creates `count` endpoints over HTTP. */
  async group(merchant: Merchant, key: string, of: GroupOptions): Promise<Group> {
    const told = await this.#receiver.ask({ kind: "port" });
    if (!("port" in told)) throw new Error("the receiver has no port");
    const endpoints: Endpoint[] = [];
    for (let i = 0; i < of.count; i++) {
      const url = `http://127.0.0.1:${told.port}/${of.way ?? "ok"}/${key}/${i}`;
      endpoints.push(await this.#register(merchant, url, of.events));
    }
    return { key, merchant, endpoints };
  }

  async #register(merchant: Merchant, url: string, events: readonly string[]): Promise<Endpoint> {
    const answer = await this.product.served.fetch(merchant.path("/webhooks"), {
      method: "POST",
      headers: { ...merchant.headers, "content-type": "application/json" },
      body: JSON.stringify({ url, events }),
    });
    if (answer.status !== 201) throw new Error(`an endpoint was refused: ${answer.status} ${await answer.text()}`);
    const { id, secret }: Endpoint = await answer.json();
    return { id, secret, url };
  }

  /** Reserves `count` consecutive event numbers, and returns the first. */
  freshIds(count: number): number {
    const from = this.#next;
    this.#next += count;
    return from;
  }

  async expect({ key }: Pick<Group, "key">, posts: number): Promise<Seen> {
    const told = await this.#receiver.ask({ kind: "expect", key, posts });
    if (!("arrivals" in told)) throw new Error("the receiver saw nothing");
    return told;
  }

  async hold(): Promise<void> {
    await this.#receiver.ask({ kind: "hold" });
  }

  async release(): Promise<void> {
    await this.#receiver.ask({ kind: "release" });
  }

  /** Makes `count` events due at each of the group's endpoints, without waking them. */
  async owe({ merchant, endpoints }: Group, count: number): Promise<void> {
    const { merchantId } = merchant;
    const webhookIds = endpoints.map(({ id }) => id);
    await seedDeliveries(this.product.database, { merchantId, webhookIds, from: this.freshIds(count), count });
  }

  async wake(...groups: readonly Group[]): Promise<void> {
    const ids = groups.flatMap(({ endpoints }) => endpoints.map(({ id }) => id));
    const bodies = ids.map((webhookId) => ({ webhookId }));
    await this.product.served.sendToQueue("WEBHOOK_QUEUE", bodies);
  }

  /** Waits until everything due is delivered and recorded. */
  async settled(...groups: readonly Group[]): Promise<void> {
    const hooks = JSON.stringify(groups.flatMap(({ endpoints }) => endpoints.map(({ id }) => id)));
    const left = this.product.database
      .prepare(
        "SELECT count(*) AS left FROM deliveries WHERE webhook_id IN (SELECT value FROM json_each(?)) AND status <> 'SUCCEEDED'",
      )
      .bind(hooks);
    const endMs = Date.now() + SETTLED_WITHIN_MS;
    while ((await left.first<number>("left")) !== 0) {
      if (Date.now() > endMs) throw new Error("deliveries were not recorded in time");
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    }
  }

  /** Sends the group's POSTs from one bare loop per endpoint, in Node. */
  async bareInNode(group: Group, count: number): Promise<Began> {
    return this.#poster.ask(this.#jobs(group, count));
  }

  /** Sends the group's POSTs from the bare loop in workerd. */
  async bareInWorkerd(group: Group, count: number): Promise<void> {
    const post = async (job: BareJob) => {
      const answer = await this.loop.fetch("/", { method: "POST", body: JSON.stringify(job) });
      if (answer.status !== 200) throw new Error(`the loop in workerd failed: ${await answer.text()}`);
    };
    await Promise.all(this.#jobs(group, count).map(post));
  }

  #jobs({ merchant, endpoints }: Group, count: number): Jobs {
    const from = this.freshIds(count);
    const { merchantId } = merchant;
    return endpoints.map(({ id, secret, url }) => {
      return { url, merchantId, webhookId: id, secret, from, count, atOnce: POSTS_AT_ONCE };
    });
  }
}

interface GroupOptions {
  readonly count: number;
  /** The event types to which the endpoints subscribe. */
  readonly events: readonly string[];
  readonly way?: "ok" | "hang";
}

async function serveLoop(): Promise<Served> {
  const { code } = await bundleWorker({ file: "bench/floor/poster.ts" });
  const options = { name: "loop", compatibilityDate: "2026-11-02", compatibilityFlags: ["nodejs_compat"] };
  return serve({ code, options });
}

/**
 * POSTs per second from the first to the last. Throws unless each event arrived once per endpoint and the last one was signed, so that a figure is
 * printed only for work that was done.
 */
export function arrivalRate({ arrivals, sample }: Seen, { endpoints }: Pick<Group, "endpoints">): number {
  const events = new Set(arrivals.map(({ eventId }) => eventId)).size;
  if (events * endpoints.length !== arrivals.length) {
    throw new Error(`${arrivals.length} POSTs of ${events} events to ${endpoints.length} endpoints`);
  }
  demandSigned(sample, endpoints);
  const [first, last] = [arrivals[0], arrivals.at(-1)];
  if (first === undefined || last === undefined || last === first) throw new Error("too few POSTs for a rate");
  return ((arrivals.length - 1) * 1_000) / (last.atMs - first.atMs);
}

function demandSigned({ headers, body }: Seen["sample"], endpoints: readonly Endpoint[]): void {
  const endpoint = endpoints.find(({ id }) => id === headers["x-webhook-id"]);
  if (endpoint === undefined || headers["x-signature"] === undefined) throw new Error("a POST without our headers");
  new Webhook(endpoint.secret).verify(body, { ...headers });
}
