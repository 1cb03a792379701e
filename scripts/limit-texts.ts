// What each limit is for, in words for people: no part of the Worker. The compiler asks for every limit.
import type { LimitName } from "../src/lib/limits.ts";

export interface LimitText {
  /** What is counted, and over what. */
  readonly counts: string;
  /** Who would suffer without it. */
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
      "requests from one IP address in a minute, before anything is looked up, whatever they ask for but static assets; in production only, and counted by Cloudflare at each of its places. The four callers' worth of an IPv6 /48 is dealt to four names of its /64s",
    protects: "everybody, from what one network sends",
    refusal: TOO_OFTEN,
    setting: "`[[ratelimits]]` in `wrangler.toml`",
  },
  requestsPerCallerAndMinute: {
    counts:
      "requests in a minute of one API key, of one signed-in user, and, where nobody has to be signed in (signing in with a code, a passkey or a provider; checkout pages and their sockets; images), of one IP address. A key's requests count once it has proved itself, so what others send with a wrong one, or are refused before, uses nothing up",
    protects: "other merchants and users; each key and user has the whole of it",
    refusal: `${TOO_OFTEN}; on a page, a page that says so, with status 429`,
    setting: "`RATE_LIMIT_PER_MINUTE` of the deployment; 0 for none",
  },
  bodyBytes: {
    counts: "bytes of a request's body; not more of it is read",
    protects: "everybody: a request's memory",
    refusal: "413 `BODY_TOO_LARGE`",
    setting: "none",
  },
  bodyDepth: {
    counts: "levels of nesting in a JSON body",
    protects: "everybody: a request's time",
    refusal: "400 `VALIDATION_FAILED`",
    setting: "none",
  },
  publicKeyRequestsPerIpAndMinute: {
    counts: "requests with one public key from one IP address in a minute, before any of them counts against the key",
    protects: "the other browsers that use the key",
    refusal: TOO_OFTEN,
    setting: "none",
  },
  callersPerIpv6Site: {
    counts: "an IPv6 /64 counts as one IP address wherever addresses are counted, and a /48 as at most this many",
    protects: "everybody whom a limit per IP address protects",
    refusal: "that of the limit",
    setting: "none",
  },
  maxActiveInvoices: {
    counts: "active invoices that the merchant's own server and members made",
    protects: "everybody else's storage, and watchers, which look at every active invoice",
    refusal: "422 `TOO_MANY_ACTIVE_INVOICES`",
    setting: "`maxActiveInvoices` of the merchant's settings",
  },
  maxPublicInvoices: {
    counts: "active invoices that public keys and product pages made, apart from those of the merchant's own server",
    protects: "the merchant's server, which keeps all of `maxActiveInvoices`",
    refusal: REACHED,
    setting: "`maxPublicInvoices` of the merchant's settings",
  },
  publicInvoicesPerIp: {
    counts: "active invoices of a merchant that one IP address made through public keys and product pages",
    protects: "the merchant's other customers",
    refusal: REACHED,
    setting: "none",
  },
  publicInvoiceHours: {
    counts: "hours that an invoice of a public key or product page waits for payment",
    protects: "the merchant's other customers",
    refusal: "none: a longer `invoiceLifetimeSeconds` is cut to it",
    setting: "none",
  },
  publicAddressesPerIp: {
    counts:
      "addresses of a merchant's extended keys, on invoices that wait for payment, given to one IP address through browsers",
    protects: "the merchant's other customers: addresses for the public are few",
    refusal: `${REACHED}; at creation the method is UNAVAILABLE`,
    setting: "none",
  },
  publicGapLimit: {
    counts:
      "how many addresses after the last one that was paid an address of an extended key may be that the public is given",
    protects: "the merchant's money: wallet software looks 20 addresses past the last one that was used",
    refusal: "409 `PUBLIC_ADDRESS_LIMIT`; at creation the method is UNAVAILABLE, and others stay",
    setting: "none",
  },
  publicGapPerHour: {
    counts:
      "addresses in an hour that the public is given beyond `publicGapLimit`, where it was given no other in that hour",
    protects: "a shop that lives from its product pages: it is never closed for good",
    refusal: "that of `publicGapLimit`",
    setting: "none",
  },
  pagesPerIpAndMerchant: {
    counts: "checkout pages of a merchant's invoices that one IP address has open with a live connection",
    protects: "the merchant's other customers: 10,000 pages of a merchant can be told of changes",
    refusal: `${TOO_OFTEN}; the page asks for changes every few seconds instead`,
    setting: "none",
  },
  locationChangesPerCustomerAndHour: {
    counts:
      "changes of a customer's `location` by visits of their checkout pages: so many at once, and as many again over an hour",
    protects: "storage, from whoever opens a page from several countries in turn",
    refusal: "none: the page is shown, and the location stays as it was",
    setting: "none",
  },
  productFormsPerIpAndMinute: {
    counts: "forms of product pages that one IP address sends in a minute, whatever they buy",
    protects: "the merchants' other customers",
    refusal: "a page that says so, with status 429 and `Retry-After`",
    setting: "none",
  },
  methodPicksPerIpAndMinute: {
    counts: "ways to pay that one IP address picks on checkout pages in a minute, on whatever invoices",
    protects: "the merchants' other customers: a pick takes an amount or an address",
    refusal: `${TOO_OFTEN}; on a page, a page that says so, with status 429`,
    setting: "none",
  },
  claimsPerIpAndHour: {
    counts:
      "claims of payment that one IP address sends in an hour, on whatever invoices; a repeated one is not counted",
    protects: "the chain sources that all merchants share",
    refusal: TOO_OFTEN,
    setting: "none",
  },
  claimsPerInvoiceAndHour: {
    counts: "claims of payment of one invoice in an hour, whoever sends them; a repeated one is not counted",
    protects: "the chain sources that all merchants share",
    refusal: TOO_OFTEN,
    setting: "none",
  },
  checkoutPagesPerInvoice: {
    counts: "open checkout pages of one invoice that are told of news at once",
    protects: "the merchant's other customers",
    refusal: `${TOO_OFTEN}; the page asks for news by itself, less often`,
    setting: "none",
  },
  checkoutPagesPerMerchant: {
    counts: "the same of all invoices of a merchant",
    protects: "everybody: the memory of the object that tells them",
    refusal: `${TOO_OFTEN}; the page asks for news by itself, less often`,
    setting: "none",
  },
  paymentsPerInvoice: {
    counts: "payments of the chain as it is that the rules credit one invoice with",
    protects: "the invoice itself, from a flood of dust: it stays readable, and a person decides about the rest",
    refusal: "none: the transfer is listed as unmatched, with the reason `TOO_MANY_PAYMENTS`",
    setting: "none",
  },
  paymentsEverPerInvoice: {
    counts: "the same, with payments that left the chain again",
    protects: "the invoice itself, from floods that are taken back",
    refusal: "that of `paymentsPerInvoice`",
    setting: "none",
  },
  paymentsByHandPerInvoice: {
    counts: "payments that one invoice has in all before no more are assigned to it by hand",
    protects: "the invoice itself: it stays readable",
    refusal: "422 `TOO_MANY_PAYMENTS`",
    setting: "none",
  },
  unmatchedPerAddressAndDay: {
    counts:
      "unmatched transfers to one address that a merchant is shown for a day, of each order of worth (below 1, 10, 100, 1,000 USD, and the rest)",
    protects: "the merchant's list, and everybody's storage",
    refusal: "none: further ones are not kept",
    setting: "none",
  },
  lookupsPerMerchantAndHour: {
    counts: "transactions that a merchant has looked up by their hash in an hour",
    protects: "the chain sources that all merchants share",
    refusal: TOO_OFTEN,
    setting: "none",
  },
  webhookEndpointsPerMerchant: {
    counts: "endpoints of a merchant",
    protects: "other merchants' deliveries: an event is written once for each endpoint",
    refusal: REACHED,
    setting: "none",
  },
  eventsPerReplay: {
    counts: "events that one replay sends again to an endpoint, 20 in a second",
    protects: "other merchants' deliveries",
    refusal: "422 `REPLAY_TOO_LARGE`",
    setting: "none",
  },
  webhookWorkersPerMerchant: {
    counts:
      "workers that deliver to a merchant's endpoints at the same time, each up to 20 deliveries of one endpoint; 4 of them only for endpoints that have none",
    protects: "other merchants' deliveries: 250 workers are at work for all merchants",
    refusal: "none: deliveries of the merchant wait, and endpoints that waited longest are next",
    setting: "none",
  },
  replaysPerMerchantAndHour: {
    counts: "replays of a merchant in an hour, of all its endpoints together; each is of at most 10,000 events",
    protects: "other merchants' deliveries: a replay writes a delivery for each event",
    refusal: TOO_OFTEN,
    setting: "none",
  },
  merchantsMadePerUserAndDay: {
    counts: "merchants that one person makes in 24 hours, deleted ones too; how many somebody has is not limited",
    protects: "everybody else's storage, from whoever signs up",
    refusal: REACHED,
    setting: "none",
  },
  keysPerMerchant: {
    counts: "API keys of a merchant that were not deleted",
    protects: "everybody else's storage",
    refusal: REACHED,
    setting: "none",
  },
  membersJoinedPerMerchantAndDay: {
    counts: "members who join a team in 24 hours; how many it has, and how many are invited, is not limited",
    protects: "mails and reads that go to every member",
    refusal: REACHED,
    setting: "none",
  },
  imageBytes: {
    counts: "bytes of one image, uploaded or fetched; no more is read",
    protects: "everybody else's storage",
    refusal: "400 `IMAGE_REFUSED`",
    setting: "none",
  },
  imagesPerMerchant: {
    counts: "logos and product images of a merchant; one that nothing names for 7 days is removed",
    protects: "everybody else's storage",
    refusal: REACHED,
    setting: "none",
  },
  imageBytesPerMerchant: {
    counts: "bytes of them together",
    protects: "everybody else's storage",
    refusal: REACHED,
    setting: "none",
  },
  invitationMailsPerMerchantAndDay: {
    counts: "mails of invitations that a merchant's team sends in 24 hours; invitations themselves are unlimited",
    protects: "strangers' mailboxes, and the name of the sender's domain",
    refusal: "nothing: the mail waits (`mailedAt: null`)",
    setting: "none",
  },
  invitationMailsPerUserAndDay: {
    counts: "mails of invitations that one person sends in 24 hours, over all merchants",
    protects: "strangers' mailboxes, and the name of the sender's domain",
    refusal: "nothing: the mail waits (`mailedAt: null`)",
    setting: "none",
  },
  invitationMailsPerMailboxAndDay: {
    counts:
      "mails of invitations to one mailbox in 24 hours, over all merchants, also of invitations that are sent anew",
    protects: "the mailbox",
    refusal: "nothing: the mail waits (`mailedAt: null`)",
    setting: "none",
  },
  receiptsPerMailboxMerchantAndDay: {
    counts:
      "receipts of one merchant to one customer's mailbox in 24 hours; an invoice without confirmed money has none",
    protects: "strangers' mailboxes, and the name of the sender's domain",
    refusal: "nothing: the receipt waits",
    setting: "none",
  },
  receiptsPerMerchantAndDay: {
    counts: "receipts of one merchant to customers in 24 hours, and as many invoices whose copies its team gets",
    protects: "other merchants' mails, and the name of the sender's domain",
    refusal: "nothing: the receipt waits",
    setting: "none",
  },
  signInCodesPerAddressAndNetworkAndHour: {
    counts: "codes mailed to one address for one network (an IPv4 address, an IPv6 /64) in an hour",
    protects: "the mailbox of whoever has the address",
    refusal: `${CODES_REFUSED}; a browser that has signed in to the address before is counted apart`,
    setting: "none",
  },
  signInCodesPerNetworkAndHour: {
    counts: "codes mailed for one network in an hour, to whatever addresses",
    protects: "strangers' mailboxes, and the name of the sender's domain",
    refusal: `${CODES_REFUSED}; a browser that has signed in to the address before is counted apart`,
    setting: "none",
  },
  signInCodesPerAddressAndDay: {
    counts: "codes to sign in with mailed to one address in 24 hours, from whatever networks",
    protects: "the mailbox of whoever has the address",
    refusal: `${CODES_REFUSED}; a browser that has signed in to the address before is counted apart`,
    setting: "none",
  },
  signInCodesPerKnownBrowserAndHour: {
    counts:
      "codes to sign in with that one browser asks for in an hour to an address that it has signed in to before, counted by its own proof (the cookie `known`), which strangers cannot use up",
    protects: "the name of the sender's domain",
    refusal: TOO_OFTEN,
    setting: "none",
  },
  signInCodesForKnownBrowsersPerAddressAndHour: {
    counts: "the same of all such browsers of an address together: each sign-in gives a new proof",
    protects: "the name of the sender's domain",
    refusal: TOO_OFTEN,
    setting: "none",
  },
  triesPerMailedCode: {
    counts: "wrong tries of one mailed code in the browser that asked for it; the code then ends",
    protects: "accounts: codes cannot be guessed",
    refusal: "401 `INVALID_CODE`, of the right code too",
    setting: "none",
  },
  minutesBetweenNotices: {
    counts:
      "minutes between two mails to a team of one kind, about one thing, by one hand: a wallet's settings, a wallet switched on, an endpoint switched off. The first goes out at once, the others together with their count; notices of new, rotated and deleted wallets, factors and keys are never joined",
    protects: "the team's mailboxes",
    refusal: "nothing",
    setting: "none",
  },
  wrongFactorsPerSession: {
    counts: "wrong second factors of a session in 15 minutes; of new sessions also those of one network together",
    protects: "accounts: codes cannot be guessed",
    refusal: "429 `TOO_MANY_ATTEMPTS`",
    setting: "none",
  },
  wrongFactorsPerUserAndDay: {
    counts:
      "wrong second factors in all new sessions of a person in a day; a session that has given a factor before is not new",
    protects: "accounts: codes cannot be guessed from many networks",
    refusal: "429 `TOO_MANY_ATTEMPTS`",
    setting: "none",
  },
  amountsWithoutProof: {
    counts:
      "amounts near a price, within 1 % either side, that a merchant holds at an address that others have registered too, while less than 50 USD, or less than a tenth of what another has, was confirmed there for it by exact matches (and at most half of what `percentOfAmountsWithoutProof` leaves them all)",
    protects: "other merchants without proof at the address",
    refusal: REACHED,
    setting: "none",
  },
  percentOfAmountsWithoutProof: {
    counts:
      "of the amounts within 0.5 % either side of a price, what all merchants without such a proof hold together at an address that several have registered",
    protects: "whoever registers the address later",
    refusal: REACHED,
    setting: "none",
  },
  percentOfAmountsForPublic: {
    counts:
      "of what a merchant may hold of the amounts around a price, for invoices of public keys and product pages, whatever they ask",
    protects: "the merchant's server, which keeps the rest",
    refusal: REACHED,
    setting: "none",
  },
  addressesWithoutProof: {
    counts:
      "unpaid addresses that a merchant holds of an extended key that others have registered too, while less than 50 USD was confirmed on its own ones; public keys and product pages get no more once half of them are held",
    protects: "the key's owner, whose wallet software looks only so far past unpaid addresses",
    refusal: REACHED,
    setting: "none",
  },
  lifetimeSecondsWithoutProof: {
    counts:
      "seconds until an invoice expires that is to be paid to such an address or key by a merchant without proof; its amounts are held no longer",
    protects: "whoever could use the amount or the address meanwhile",
    refusal: REACHED,
    setting: "none",
  },
};
