// Texts for the limits on requests, invoices, customers' pages, live connections and payments.
import { type LimitTexts, REACHED, TOO_OFTEN } from "./limit-text.ts";

export const CALLER_LIMIT_TEXTS = {
  requestsPerIpAndMinute: {
    counts:
      "requests from one IP address in a minute, before anything is read, for everything except static assets; only in production, and counted by Cloudflare at each of its locations. The /64s of an IPv6 /48 are spread over four counters",
    protects: "everyone, from the requests of one network",
    refusal: TOO_OFTEN,
    setting: "`[[ratelimits]]` in `wrangler.toml`",
  },
  requestsPerCallerAndMinute: {
    counts:
      "requests in a minute by one API key, by one signed-in user, and, on routes without sign-in (signing in with a code, a passkey or a provider; checkout pages and their sockets; images), from one IP address. A key's requests only count after the key was verified, so requests with a wrong key, or refused earlier, do not count",
    protects: "other merchants and users; each key and user has the full limit",
    refusal: `${TOO_OFTEN}; on a page, a page that says so, with status 429`,
    setting: "`RATE_LIMIT_PER_MINUTE` of the deployment; 0 for none",
  },
  bodyBytes: {
    counts: "bytes of a request's body; no more are read",
    protects: "everyone: the memory of a request",
    refusal: "413 `BODY_TOO_LARGE`",
    setting: "none",
  },
  bodyDepth: {
    counts: "levels of nesting in a JSON body",
    protects: "everyone: the time of a request",
    refusal: "400 `VALIDATION_FAILED`",
    setting: "none",
  },
  bodyValues: {
    counts: "members and items in a JSON body, or fields of a form",
    protects: "everyone: the time of a request",
    refusal: "400 `VALIDATION_FAILED`",
    setting: "none",
  },
  checksumsPerBody: {
    counts:
      "checksums computed for parts of a body that look like a private key; a part as long as an extended key counts as three",
    protects: "everyone: the time of a request",
    refusal: "400 `VALIDATION_FAILED`: nothing is stored before it was checked for private keys",
    setting: "none",
  },
  failedCredentialsPerIpAndMinute: {
    counts:
      "requests in a minute from one IP address whose key or session is refused with 401; counted in memory at each Cloudflare location",
    protects: "everyone: repeated guesses get 429; this limit never refuses a valid credential",
    refusal: "429 `RATE_LIMITED`",
    setting: "none",
  },
  publicKeyRequestsPerIpAndMinute: {
    counts: "requests with one public key from one IP address in a minute; refused ones do not count against the key",
    protects: "the other browsers that use the key",
    refusal: TOO_OFTEN,
    setting: "none",
  },
  callersPerIpv6Site: {
    counts:
      "callers in an IPv6 /48: wherever IP addresses are counted, a /64 counts as one, and a /48 as at most this many",
    protects: "everyone whom a limit per IP address protects",
    refusal: "that of the limit in question",
    setting: "none",
  },
  maxActiveInvoices: {
    counts: "active invoices created by the merchant's own server and members",
    protects: "everyone else's storage, and the watchers, which check every active invoice",
    refusal: "422 `TOO_MANY_ACTIVE_INVOICES`",
    setting: "`maxActiveInvoices` of the merchant's settings",
  },
  maxPublicInvoices: {
    counts:
      "active invoices created through public keys and product pages, counted separately from those of the merchant's own server",
    protects: "the merchant's server, which keeps all of `maxActiveInvoices`",
    refusal: REACHED,
    setting: "`maxPublicInvoices` of the merchant's settings",
  },
  publicInvoicesPerIp: {
    counts: "active invoices of a merchant created by one IP address through public keys and product pages",
    protects: "the merchant's other customers",
    refusal: REACHED,
    setting: "none",
  },
  publicInvoiceHours: {
    counts: "hours that an invoice of a public key or product page waits for payment",
    protects: "the merchant's other customers",
    refusal: "none: a longer `invoiceLifetimeSeconds` is shortened to this",
    setting: "none",
  },
  publicAddressesPerIp: {
    counts:
      "addresses of a merchant's extended keys given to one IP address through browsers, on invoices that wait for payment",
    protects: "the merchant's other customers: there are few addresses for the public",
    refusal: `${REACHED}; at creation the method is UNAVAILABLE`,
    setting: "none",
  },
  publicGapLimit: {
    counts: "how many addresses after the last paid address of an extended key may be given to the public",
    protects: "the merchant's money: wallet software checks 20 addresses after the last used one",
    refusal: "409 `PUBLIC_ADDRESS_LIMIT`; at creation the method is UNAVAILABLE, the others stay available",
    setting: "none",
  },
  publicGapPerHour: {
    counts:
      "addresses beyond `publicGapLimit` given to the public in an hour in which no other address was given to the public",
    protects: "a shop that depends on its product pages: they never stop working for good",
    refusal: "that of `publicGapLimit`",
    setting: "none",
  },
  pagesPerIpAndMerchant: {
    counts: "checkout pages of a merchant's invoices with a live connection, open from one IP address",
    protects: "the merchant's other customers: at most 10,000 pages of a merchant get live updates",
    refusal: `${TOO_OFTEN}; the page asks for changes every few seconds instead`,
    setting: "none",
  },
  locationChangesPerCustomerAndHour: {
    counts:
      "changes of a customer's `location` by visits to their checkout pages: this many at once, and as many again over an hour",
    protects: "storage, from a page that is opened from several countries in turn",
    refusal: "none: the page is shown, and the location stays as it was",
    setting: "none",
  },
  productFormsPerIpAndMinute: {
    counts: "forms of product pages sent by one IP address in a minute, for any product",
    protects: "the merchants' other customers",
    refusal: "a page that says so, with status 429 and `Retry-After`",
    setting: "none",
  },
  methodPicksPerIpAndMinute: {
    counts: "payment methods chosen by one IP address on checkout pages in a minute, for any invoice",
    protects: "the merchants' other customers: a choice uses up an amount or an address",
    refusal: `${TOO_OFTEN}; on a page, a page that says so, with status 429`,
    setting: "none",
  },
  claimsPerIpAndHour: {
    counts: "claims of payment sent by one IP address in an hour, for any invoice; a repeated claim is not counted",
    protects: "the chain sources that all merchants share",
    refusal: TOO_OFTEN,
    setting: "none",
  },
  claimsPerInvoiceAndHour: {
    counts: "claims of payment for one invoice in an hour, from any sender; a repeated claim is not counted",
    protects: "the chain sources that all merchants share",
    refusal: TOO_OFTEN,
    setting: "none",
  },
  checkoutPagesPerInvoice: {
    counts: "open checkout pages of one invoice that get live updates",
    protects: "the merchant's other customers",
    refusal: `${TOO_OFTEN}; the page polls instead, less often`,
    setting: "none",
  },
  checkoutPagesPerMerchant: {
    counts: "open checkout pages of all invoices of a merchant that get live updates",
    protects: "everyone: the memory of the object that sends the updates",
    refusal: `${TOO_OFTEN}; the page polls instead, less often`,
    setting: "none",
  },
  liveConnectionsPerMember: {
    counts: "connections of one member that get live updates of a merchant",
    protects: "the other members of the team",
    refusal: TOO_OFTEN,
    setting: "none",
  },
  liveConnectionsPerMerchant: {
    counts: "connections of all members that get live updates of a merchant; checkout pages are counted separately",
    protects: "other merchants",
    refusal: TOO_OFTEN,
    setting: "none",
  },
  paymentsPerInvoice: {
    counts: "payments on the current chain that the rules credit to one invoice",
    protects: "the invoice itself, from a flood of dust: it stays readable, and a user decides about the rest",
    refusal: "none: the transfer is listed as unmatched, with the reason `TOO_MANY_PAYMENTS`",
    setting: "none",
  },
  paymentsEverPerInvoice: {
    counts: "payments that the rules credit to one invoice, including those that left the chain again",
    protects: "the invoice itself, from floods that are reverted",
    refusal: "that of `paymentsPerInvoice`",
    setting: "none",
  },
  paymentsByHandPerInvoice: {
    counts: "payments of one invoice in total, above which no more can be assigned by hand",
    protects: "the invoice itself: it stays readable",
    refusal: "422 `TOO_MANY_PAYMENTS`",
    setting: "none",
  },
  unmatchedPerAddressAndDay: {
    counts:
      "unmatched transfers to one address that a merchant is shown for a day, in each range of value (below 1, 10, 100, 1,000 USD, and above); the same number of dust transfers is kept",
    protects: "the merchant's list, and everyone's storage",
    refusal: "none: further transfers are not stored; a look-up by hash stores them",
    setting: "none",
  },
  merchantsPerUnmatchedTransfer: {
    counts:
      "merchants with a wallet on an address that are shown an unmatched transfer to it: those who received most there, then those who registered it first; in addition, the same number of merchants for whose invoices it could have been",
    protects: "everyone's storage",
    refusal: "none: the others look the transfer up by its hash",
    setting: "none",
  },
} as const satisfies LimitTexts;
