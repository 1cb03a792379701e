// The merchant's client: fetch and Web Crypto, no dependencies, for Node 20 and newer, Deno, Bun, Workers, and browsers with a public key.
import { callsOf, type EdgetillOptions } from "./calls.ts";
import * as resources from "./resources.ts";

export type * from "./api-types.ts";
export type { EdgetillOptions } from "./calls.ts";
export type * from "./enums.ts";
export type { ErrorTable } from "./error-table.ts";
export {
  EdgetillConnectionError,
  EdgetillError,
  EdgetillTimeoutError,
  type ErrorCode,
  type ErrorDetail,
  type FailedCall,
  type Refusal,
} from "./errors.ts";
export type { WebhookEvent } from "./events.ts";
export type { Page, Pages } from "./pages.ts";
export { EdgetillPublic, type NewPublicInvoice, type PublicCallOptions } from "./public.ts";
export type { CallOptions } from "./request.ts";
export type { NewInvoice, PollOptions } from "./resources.ts";
export {
  type ReturnKeys,
  type ReturnRefusal,
  type ReturnRequest,
  ReturnVerificationError,
  type VerifiedReturn,
  verifyReturn,
} from "./return.ts";
export {
  verifyWebhook,
  type WebhookHeaders,
  type WebhookRefusal,
  type WebhookRequest,
  WebhookVerificationError,
} from "./webhook.ts";

/** Everything that a merchant's secret key may call. A method throws an error of errors.ts, or the reason of its `signal`. */
export class Edgetill {
  readonly invoices: ReturnType<typeof resources.invoices>;
  readonly payments: ReturnType<typeof resources.payments>;
  readonly wallets: ReturnType<typeof resources.wallets>;
  readonly products: ReturnType<typeof resources.products>;
  readonly customers: ReturnType<typeof resources.customers>;
  readonly reports: ReturnType<typeof resources.reports>;
  readonly search: ReturnType<typeof resources.search>;
  readonly attention: ReturnType<typeof resources.attention>;
  readonly readiness: ReturnType<typeof resources.readiness>;
  readonly events: ReturnType<typeof resources.events>;
  readonly webhooks: ReturnType<typeof resources.webhooks>;
  readonly settings: ReturnType<typeof resources.settings>;
  readonly merchant: ReturnType<typeof resources.merchant>;
  readonly apiKeys: ReturnType<typeof resources.apiKeys>;
  readonly auditEvents: ReturnType<typeof resources.auditEvents>;

  constructor(options: EdgetillOptions) {
    const { call, open } = callsOf(options);
    this.invoices = resources.invoices(call);
    this.payments = resources.payments(call);
    this.wallets = resources.wallets(call);
    this.products = resources.products(call);
    this.customers = resources.customers(call);
    this.reports = resources.reports(call, open);
    this.search = resources.search(call);
    this.attention = resources.attention(call);
    this.readiness = resources.readiness(call);
    this.events = resources.events(call);
    this.webhooks = resources.webhooks(call);
    this.settings = resources.settings(call);
    this.merchant = resources.merchant(call);
    this.apiKeys = resources.apiKeys(call);
    this.auditEvents = resources.auditEvents(call);
  }
}
