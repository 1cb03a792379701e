// What the fake remembers. Rows are kept in the form in which the API shows them, beside what it does not show.
import type * as Api from "../api-types.ts";
import type { WebhookEvent } from "../events.ts";
import type { Pair } from "./pairs.ts";

/** An active payment method, by its quote. */
export interface FakeMethod {
  readonly pair: Pair;
  readonly rate: string;
  readonly amountUnits: bigint;
  readonly forMicros: bigint;
  readonly atMs: number;
  /** For what is still due after a part was paid. */
  restUnits: bigint | undefined;
}

export interface FakeInvoice {
  readonly body: Api.Invoice;
  readonly expectedMicros: bigint;
  readonly methods: FakeMethod[];
  receivedMicros: bigint;
  confirmedMicros: bigint;
  sequence: number;
  isCancelled: boolean;
  isAccepted: boolean;
}

export interface FakePayment {
  readonly body: Api.Payment;
  readonly pair: Pair;
  readonly units: bigint;
  /** Invoices that waited at the address and asked for something else. */
  readonly candidates: Api.PaymentDetails["evidence"]["candidates"];
  resolution: Api.PaymentDetails["resolution"];
}

export interface FakeWebhook {
  readonly body: Api.Webhook;
  readonly secret: string;
}

/** An event that an endpoint has not accepted yet. */
export interface FakeDelivery {
  readonly webhook: FakeWebhook;
  readonly event: WebhookEvent;
  readonly id: string;
}

export interface FakeState {
  readonly merchantId: string;
  /** Of the service, without a slash at the end. */
  readonly origin: string;
  readonly wallets: readonly Api.Wallet[];
  readonly invoices: Map<string, FakeInvoice>;
  readonly payments: Map<string, FakePayment>;
  readonly products: Map<string, Api.Product>;
  readonly customers: Map<string, Api.Customer>;
  readonly webhooks: Map<string, FakeWebhook>;
  readonly events: WebhookEvent[];
  readonly deliveries: FakeDelivery[];
  now(): number;
  /** Greater than every earlier one. */
  newId(prefix: string): string;
}

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** Ids of the service's form: a prefix, ten characters of time, sixteen that count. */
export function idMaker(now: () => number): (prefix: string) => string {
  let count = 0;
  let latestMs = 0;
  return (prefix) => {
    count += 1;
    latestMs = Math.max(latestMs, now());
    return `${prefix}_${base32(latestMs, 10)}${base32(count, 16)}`;
  };
}

function base32(value: number, length: number): string {
  let text = "";
  for (let rest = value; text.length < length; rest = Math.floor(rest / 32)) text = ALPHABET.charAt(rest % 32) + text;
  return text;
}

/** Now, as the API writes times. */
export function timeOf(state: Pick<FakeState, "now">): string {
  return new Date(state.now()).toISOString();
}
