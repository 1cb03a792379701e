// A merchant of the drill, which acts as a merchant's program would: it creates invoices with its key, and reads events as the guide says.
export interface Shown {
  readonly id: string;
  readonly address: string;
  /** Amount in satoshis. */
  readonly units: bigint;
  /** The Idempotency-Key and the body of the create. */
  readonly key: string;
  readonly body: object;
}

/** What a consumer stores about an invoice. */
interface Seen {
  readonly sequence: number;
  readonly state: string;
}

interface InvoiceJson {
  readonly id: string;
  readonly status: string;
  readonly needsReview: boolean;
  readonly amountReceived: string;
  readonly paymentMethods: readonly { readonly status: string; readonly address: string; readonly amount: string }[];
}

interface EventJson {
  readonly id: string;
  readonly sequence: number | null;
  readonly data: { readonly invoice?: InvoiceJson };
}

const ANSWERS_WITHIN_MS = 60_000;

export class DrillShop {
  readonly name: string;
  readonly merchantId: string;
  readonly key: string;
  readonly #baseUrl: string;
  readonly #seen = new Map<string, Seen>();
  #after = "0";
  /** The number of events with another state that were ignored because an event with the same or a higher sequence had already been seen. */
  ignored = 0;

  constructor(of: {
    readonly name: string;
    readonly baseUrl: string;
    readonly merchantId: string;
    readonly key: string;
  }) {
    this.name = of.name;
    this.merchantId = of.merchantId;
    this.key = of.key;
    this.#baseUrl = of.baseUrl;
  }

  async call(method: string, rest: string, body?: unknown, more: Readonly<Record<string, string>> = {}) {
    const response = await fetch(`${this.#baseUrl}/api/v1/merchants/merchant/${this.merchantId}${rest}`, {
      method,
      headers: {
        "x-api-key": this.key,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...more,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(ANSWERS_WITHIN_MS),
    });
    const text = await response.text();
    return { status: response.status, json: text === "" ? undefined : JSON.parse(text) };
  }

  async demand(method: string, rest: string, body?: unknown, more?: Readonly<Record<string, string>>) {
    const { status, json } = await this.call(method, rest, body, more);
    if (status < 200 || status > 299) throw new Error(`${method} ${rest}: ${status} ${JSON.stringify(json)}`);
    return json;
  }

  /** Creates an invoice with an Idempotency-Key; returns what its payer is shown. */
  async create(key: string, rawAmount: number): Promise<Shown> {
    const body = {
      name: `Order ${key}`,
      rawAmount,
      externalId: key,
      paymentMethods: [{ cryptocurrency: "BTC", network: "BTC" }],
    };
    const invoice: InvoiceJson = await this.demand("POST", "/invoices", body, { "idempotency-key": key });
    return { ...shownOf(invoice), key, body };
  }

  async invoice(id: string): Promise<InvoiceJson | undefined> {
    const { status, json } = await this.call("GET", `/invoices/${id}`);
    return status === 200 ? json : undefined;
  }

  /** Reads the events since the last call, or all of them if the position is gone, and keeps each invoice's newest state. */
  async consume(): Promise<void> {
    for (;;) {
      const { status, json } = await this.call("GET", `/events?limit=100&after=${this.#after}`);
      if (status === 404 && this.#after !== "0") {
        this.#after = "0";
        continue;
      }
      if (status !== 200) throw new Error(`the events of ${this.name}: ${status}`);
      const events: readonly EventJson[] = json.data;
      for (const event of events) this.#take(event);
      this.#after = json.nextCursor;
      if (events.length < 100) return;
    }
  }

  /** The state that the consumer has stored; undefined for an unknown invoice. */
  known(id: string): string | undefined {
    return this.#seen.get(id)?.state;
  }

  #take({ sequence, data: { invoice } }: EventJson): void {
    if (invoice === undefined || sequence === null) return;
    const before = this.#seen.get(invoice.id);
    if (before !== undefined && before.sequence >= sequence) {
      if (stateOf(invoice) !== before.state) this.ignored += 1;
      return;
    }
    this.#seen.set(invoice.id, { sequence, state: stateOf(invoice) });
  }
}

export function shownOf({ id, paymentMethods }: InvoiceJson): Pick<Shown, "id" | "address" | "units"> {
  const [method] = paymentMethods;
  if (method?.status !== "ACTIVE") throw new Error(`${id} shows no address`);
  return { id, address: method.address, units: BigInt(Math.round(Number(method.amount) * 100_000_000)) };
}

/** The part of the state that merchants act on. */
export function stateOf({ status, needsReview, amountReceived }: InvoiceJson): string {
  return `${status}, received ${amountReceived}${needsReview ? ", to be reviewed" : ""}`;
}
