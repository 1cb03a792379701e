// Shared by all benchmarks: the servers, started on first use and stopped together, the load generator, and the progress line.
import { serveFloor } from "./floor/server.ts";
import { type LoadGenerator, startLoadGenerator } from "./load/client.ts";
import type { Options } from "./options.ts";
import { type Peer, servePeer } from "./peer/peer.ts";
import { type Merchant, type Product, type ProductOptions, serveProduct } from "./product.ts";
import type { Served } from "./serve.ts";

interface Plan {
  readonly connections: readonly number[];
  readonly rounds: number;
  readonly seconds: number;
}

/** Request numbers reserved for one window. */
const NUMBERS_A_WINDOW = 200_000;

export class Context {
  readonly options: Options;
  readonly load: LoadGenerator;
  readonly plan: Plan;
  readonly #stops: (() => Promise<void>)[] = [];
  readonly #products = new Map<string, Promise<Product>>();
  #floor: Promise<Served> | undefined;
  #peer: Promise<Peer> | undefined;
  #xpubMerchant: Promise<Merchant> | undefined;
  #nextNumber = 0;

  constructor(options: Options) {
    this.options = options;
    this.load = startLoadGenerator();
    const plan = options.isQuick
      ? { connections: [16], rounds: 3, seconds: 0.7 }
      : { connections: [1, 16, 64], rounds: 6, seconds: 1 };
    this.plan = { ...plan, connections: options.connections ?? plan.connections };
  }

  floor(): Promise<Served> {
    this.#floor ??= this.keep(serveFloor());
    return this.#floor;
  }

  peer(): Promise<Peer> {
    this.#peer ??= this.keep(servePeer((text) => this.progress(text)));
    return this.#peer;
  }

  /** Starts one server per `name`, with the options of the first call. */
  product(name = "default", options: ProductOptions = {}): Promise<Product> {
    const known = this.#products.get(name);
    if (known !== undefined) return known;
    this.progress(`starting the product (${name})`);
    const started = serveProduct(options);
    this.#products.set(name, started);
    this.#stops.push(async () => (await started).served.stop());
    return started;
  }

  /** The only merchant of the default product that has the extended key, because a second merchant could use only a few of its addresses. */
  xpubMerchant(make: (product: Product) => Promise<Merchant>): Promise<Merchant> {
    this.#xpubMerchant ??= this.product().then(make);
    return this.#xpubMerchant;
  }

  /** Stops `served` together with all other servers. */
  keep<T extends { stop(): Promise<void> }>(served: Promise<T>): Promise<T> {
    this.#stops.push(async () => (await served).stop());
    return served;
  }

  freshNumbers(): { readonly from: number; readonly count: number } {
    const from = this.#nextNumber;
    this.#nextNumber += NUMBERS_A_WINDOW;
    return { from, count: NUMBERS_A_WINDOW };
  }

  /** Prints one line, which is overwritten on a terminal and kept in a log. */
  progress(text: string): void {
    if (process.stderr.isTTY) process.stderr.write(`\r\x1b[2K${text}`);
    else process.stderr.write(`  ${text}\n`);
  }

  async stop(): Promise<void> {
    if (process.stderr.isTTY) process.stderr.write("\r\x1b[2K");
    this.load.stop();
    await Promise.allSettled(this.#stops.map((stop) => stop()));
  }
}
