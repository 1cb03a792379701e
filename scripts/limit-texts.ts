// Documentation texts of the limits. Not part of the Worker. The compiler requires a text for every limit.
import type { LimitName } from "../src/lib/limits.ts";

export interface LimitText {
  /** What is counted, and over what. */
  readonly counts: string;
  /** Who is protected by the limit. */
  readonly protects: string;
  /** What the refused caller sees. */
  readonly refusal: string;
  /** The setting that changes it, with its home; "none" where it is fixed. */
  readonly setting: string;
}

const REACHED = "422 `LIMIT_REACHED`";
const CODES_REFUSED = "429 `RATE_LIMITED`, for known and unknown addresses alike";
const TOO_OFTEN = "429 `RATE_LIMITED` with `Retry-After`";

export const LIMIT_TEXTS: { readonly [N in LimitName]: LimitText } = {
  requestsPerIpAndMinute: {
    counts:
      "requests from one IP address in a minute, before anything is read, for everything except static assets; only in production, and counted by Cloudflare at each of its locations. The /64s of an IPv6 /48 are spread over four counters",
    protects: "everybody, from the requests of one network",
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
    protects: "everybody: the memory of a request",
    refusal: "413 `BODY_TOO_LARGE`",
    setting: "none",
  },
  bodyDepth: {
    counts: "levels of nesting in a JSON body",
    protects: "everybody: the time of a request",
    refusal: "400 `VALIDATION_FAILED`",
    setting: "none",
  },
  bodyValues: {
    counts: "members and items in a JSON body, or fields of a form",
    protects: "everybody: the time of a request",
    refusal: "400 `VALIDATION_FAILED`",
    setting: "none",
  },
  checksumsPerBody: {
    counts:
      "checksums of places in a body that look like a private key; one as long as an extended key counts as three",
    protects: "everybody: the time of a request",
    refusal: "400 `VALIDATION_FAILED`: nothing is stored that was not searched",
    setting: "none",
  },
  failedCredentialsPerIpAndMinute: {
    counts:
      "requests of one address whose key or session is refused with 401, in a minute; counted in the memory of a Cloudflare location",
    protects: "everybody: guesses are told to slow down; a credential that is valid is never refused by this count",
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
    protects: "everybody whom a limit per IP address protects",
    refusal: "that of the limit in question",
    setting: "none",
  },
  maxActiveInvoices: {
    counts: "active invoices created by the merchant's own server and members",
    protects: "everybody else's storage, and the watchers, which check every active invoice",
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
    counts: "how far after the last paid address of an extended key an address may be that is given to the public",
    protects: "the merchant's money: wallet software checks 20 addresses after the last used one",
    refusal: "409 `PUBLIC_ADDRESS_LIMIT`; at creation the method is UNAVAILABLE, the others stay available",
    setting: "none",
  },
  publicGapPerHour: {
    counts: "addresses beyond `publicGapLimit` given to the public in an hour, if it was given no other in that hour",
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
    counts: "the same for all invoices of a merchant",
    protects: "everybody: the memory of the object that sends the updates",
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
    counts: "connections of all members that get live updates of a merchant; checkout pages are counted apart",
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
    counts: "the same, including payments that left the chain again",
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
      "unmatched transfers to one address that a merchant is shown for a day, in each range of worth (below 1, 10, 100, 1,000 USD, and above); as many of dust are kept",
    protects: "the merchant's list, and everybody's storage",
    refusal: "none: further ones are not stored; a look-up by their hash stores them",
    setting: "none",
  },
  merchantsPerUnmatchedTransfer: {
    counts:
      "merchants with a wallet on an address that are shown an unmatched transfer to it: those who received most there, then those who registered it first; besides, as many whose invoices it could have been for",
    protects: "everybody's storage",
    refusal: "none: the others look the transfer up by its hash",
    setting: "none",
  },
  lookupsPerMerchantAndHour: {
    counts: "transactions that a merchant looks up by hash in an hour",
    protects: "the chain sources that all merchants share",
    refusal: TOO_OFTEN,
    setting: "none",
  },
  exportsPerMerchantAndMinute: {
    counts:
      "exports of payments, invoices and statements that a merchant begins in a minute, by all its keys and members; a long one counts again for each 25,000 rows",
    protects: "everybody: the database, which answers one query after the other",
    refusal: `${TOO_OFTEN}; an export that has begun waits instead, and is slower`,
    setting: "none",
  },
  webhookEndpointsPerMerchant: {
    counts: "endpoints of a merchant",
    protects: "other merchants' deliveries: an event is written once for each endpoint",
    refusal: REACHED,
    setting: "none",
  },
  eventsPerReplay: {
    counts: "events that one replay sends again to an endpoint, 20 a second",
    protects: "other merchants' deliveries",
    refusal: "422 `REPLAY_TOO_LARGE`",
    setting: "none",
  },
  reportDays: {
    counts: "days of one report of totals",
    protects:
      "everybody: the time of a request, which reads each quarter of an hour in which the merchant had invoices or payments",
    refusal: "400 `VALIDATION_FAILED`",
    setting: "none",
  },
  blocksPerReread: {
    counts:
      "blocks of a range that an operator has read again: five days of BNB Smart Chain, the fastest network, and 19 years of Bitcoin",
    protects: "everybody: the sources' own limits, and passes of other networks, which the reading shares time with",
    refusal: "400 `VALIDATION_FAILED`",
    setting: "none; several ranges one after the other have no limit",
  },
  webhookWorkersPerMerchant: {
    counts:
      "workers that deliver to a merchant's endpoints at the same time, each up to 20 deliveries of one endpoint; 4 of them are reserved for endpoints without a worker",
    protects: "other merchants' deliveries: there are 250 workers for all merchants",
    refusal: "none: the merchant's deliveries wait, and the endpoints that have waited longest are next",
    setting: "none",
  },
  replaysPerMerchantAndHour: {
    counts: "replays of a merchant in an hour, over all its endpoints; each has at most 10,000 events",
    protects: "other merchants' deliveries: a replay writes a delivery for each event",
    refusal: TOO_OFTEN,
    setting: "none",
  },
  merchantsMadePerUserAndDay: {
    counts: "merchants that one user creates in 24 hours, including deleted ones; the total number is not limited",
    protects: "everybody else's storage",
    refusal: REACHED,
    setting: "none",
  },
  keysPerMerchant: {
    counts: "API keys of a merchant, without deleted ones",
    protects: "everybody else's storage",
    refusal: REACHED,
    setting: "none",
  },
  membersJoinedPerMerchantAndDay: {
    counts: "members who join a team in 24 hours; the numbers of members and invitations are not limited",
    protects: "mails to, and reads of, every member",
    refusal: REACHED,
    setting: "none",
  },
  imageBytes: {
    counts: "bytes of one image, uploaded or fetched; no more are read",
    protects: "everybody else's storage",
    refusal: "400 `IMAGE_REFUSED`",
    setting: "none",
  },
  imagesPerMerchant: {
    counts: "logos and product images of a merchant; an image that is not used for 7 days is deleted",
    protects: "everybody else's storage",
    refusal: REACHED,
    setting: "none",
  },
  imageBytesPerMerchant: {
    counts: "total bytes of a merchant's images",
    protects: "everybody else's storage",
    refusal: REACHED,
    setting: "none",
  },
  invitationMailsPerMerchantAndDay: {
    counts: "invitation mails that a merchant's team sends in 24 hours; invitations themselves are unlimited",
    protects: "third parties' mailboxes, and the reputation of the sender's domain",
    refusal: "nothing: the mail waits (`mailedAt: null`)",
    setting: "none",
  },
  invitationMailsPerUserAndDay: {
    counts: "invitation mails that one user sends in 24 hours, over all merchants",
    protects: "third parties' mailboxes, and the reputation of the sender's domain",
    refusal: "nothing: the mail waits (`mailedAt: null`)",
    setting: "none",
  },
  invitationMailsPerMailboxAndDay: {
    counts: "invitation mails to one mailbox in 24 hours, over all merchants, including repeated invitations",
    protects: "the mailbox",
    refusal: "nothing: the mail waits (`mailedAt: null`)",
    setting: "none",
  },
  receiptsPerMailboxMerchantAndDay: {
    counts:
      "receipts of one merchant to one customer's mailbox in 24 hours; an invoice without confirmed money gets none",
    protects: "third parties' mailboxes, and the reputation of the sender's domain",
    refusal: "nothing: the receipt waits",
    setting: "none",
  },
  receiptsPerMerchantAndDay: {
    counts:
      "receipts of one merchant to customers in 24 hours; separately, the same number of invoices whose copies go to its team",
    protects: "other merchants' mails, and the reputation of the sender's domain",
    refusal: "nothing: the receipt waits",
    setting: "none",
  },
  signInCodesPerAddressAndNetworkAndHour: {
    counts: "codes mailed to one address for one network (an IPv4 address, an IPv6 /64) in an hour",
    protects: "the mailbox of the address",
    refusal: `${CODES_REFUSED}; a browser that has signed in to the address before is counted separately`,
    setting: "none",
  },
  signInCodesPerNetworkAndHour: {
    counts: "codes mailed for one network in an hour, to any address",
    protects: "third parties' mailboxes, and the reputation of the sender's domain",
    refusal: `${CODES_REFUSED}; a browser that has signed in to the address before is counted separately`,
    setting: "none",
  },
  signInCodesPerAddressAndDay: {
    counts: "sign-in codes mailed to one mailbox, however it is spelled, in 24 hours, from any network",
    protects: "the mailbox of the address",
    refusal: `${CODES_REFUSED}; not for a browser or a network that has signed in to the address before`,
    setting: "none",
  },
  signInCodesPerKnownBrowserAndHour: {
    counts:
      "sign-in codes that one browser requests in an hour for an address that it has signed in to before, counted by its own proof (the cookie `known`), so that others cannot use up the limit",
    protects: "the reputation of the sender's domain",
    refusal: TOO_OFTEN,
    setting: "none",
  },
  signInCodesForKnownBrowsersPerAddressAndHour: {
    counts: "the same for all such browsers of an address together, because each sign-in gives a new proof",
    protects: "the reputation of the sender's domain",
    refusal: TOO_OFTEN,
    setting: "none",
  },
  triesPerMailedCode: {
    counts: "wrong tries of one mailed code in the browser that requested it; the code is then invalid",
    protects: "accounts: codes cannot be guessed",
    refusal: "401 `INVALID_CODE`, even for the right code",
    setting: "none",
  },
  minutesBetweenNotices: {
    counts:
      "minutes between two mails to a team of the same kind, about the same object, caused by the same actor: a wallet's settings, a wallet switched on, an endpoint switched off. The first is sent at once, later ones are joined with their count; notices of new, rotated and deleted wallets, factors and keys are never joined",
    protects: "the team's mailboxes",
    refusal: "nothing",
    setting: "none",
  },
  wrongFactorsPerSession: {
    counts: "wrong second factors of a session in 15 minutes; for new sessions also those of one network together",
    protects: "accounts: codes cannot be guessed",
    refusal: "429 `TOO_MANY_ATTEMPTS`",
    setting: "none",
  },
  wrongFactorsPerUserAndDay: {
    counts:
      "wrong second factors in all new sessions of a user in a day; a session that has given a factor before is not new",
    protects: "accounts: codes cannot be guessed from many networks",
    refusal: "429 `TOO_MANY_ATTEMPTS`",
    setting: "none",
  },
  amountsWithoutProof: {
    counts:
      "amounts within 1 % of a price that a merchant without proof holds at an address that others have registered too (and at most half of what `percentOfAmountsWithoutProof` leaves them all). A merchant has no proof while exact matches there confirmed less than 50 USD for it, or less than a tenth of another merchant's sum",
    protects: "the other merchants without proof at the address",
    refusal: REACHED,
    setting: "none",
  },
  percentOfAmountsWithoutProof: {
    counts:
      "share of the amounts within 0.5 % of a price that all merchants without such a proof together hold at an address that several have registered",
    protects: "merchants that register the address later",
    refusal: REACHED,
    setting: "none",
  },
  percentOfAmountsForPublic: {
    counts: "share of a merchant's amounts around a price that invoices of public keys and product pages may use",
    protects: "the merchant's server, for which the rest is reserved",
    refusal: REACHED,
    setting: "none",
  },
  addressesWithoutProof: {
    counts:
      "unpaid addresses that a merchant holds of an extended key that others have registered too, while less than 50 USD was confirmed on its own addresses; public keys and product pages may only use half of them",
    protects: "the key's owner, whose wallet software only checks a limited number of unpaid addresses",
    refusal: REACHED,
    setting: "none",
  },
  lifetimeSecondsWithoutProof: {
    counts:
      "lifetime in seconds of an invoice of a merchant without proof at such an address or key; its amounts are not held longer",
    protects: "merchants that could use the amount or the address meanwhile",
    refusal: REACHED,
    setting: "none",
  },
};
