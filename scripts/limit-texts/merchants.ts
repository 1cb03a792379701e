// Texts for the limits on merchants and their members, and on signing in.
import { CODES_REFUSED, type LimitTexts, REACHED, TOO_OFTEN } from "./limit-text.ts";

export const MERCHANT_LIMIT_TEXTS = {
  lookupsPerMerchantAndHour: {
    counts: "transactions that a merchant looks up by hash in an hour",
    protects: "the chain sources that all merchants share",
    refusal: TOO_OFTEN,
    setting: "none",
  },
  networkChecksPerMerchantAndHour: {
    counts:
      "times in an hour that a merchant checks on which other networks an address may be used; each check asks every EVM network",
    protects: "the chain sources that all merchants share",
    refusal: TOO_OFTEN,
    setting: "none",
  },
  sourceTrialsPerNetworkAndMinute: {
    counts: "times in a minute that operators try the sources of a network; each try asks all of its sources",
    protects: "the chain sources that all merchants share",
    refusal: TOO_OFTEN,
    setting: "none",
  },
  exportsPerMerchantAndMinute: {
    counts:
      "exports of payments, invoices and statements that a merchant begins in a minute, by all its keys and members; a long one counts again for each 25,000 rows",
    protects: "everyone: the database, which answers one query at a time",
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
      "everyone: the time of a request, which reads each quarter of an hour in which the merchant had invoices or payments",
    refusal: "400 `VALIDATION_FAILED`",
    setting: "none",
  },
  blocksPerReread: {
    counts:
      "blocks in a range that an operator asks to be read again: three days of Arbitrum, the fastest network, and 19 years of Bitcoin",
    protects: "everyone: the sources' own limits, and the passes of other networks, with which the reading shares time",
    refusal: "400 `VALIDATION_FAILED`",
    setting: "none; the number of consecutive ranges is not limited",
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
    protects: "everyone else's storage",
    refusal: REACHED,
    setting: "none",
  },
  keysPerMerchant: {
    counts: "API keys of a merchant, without deleted ones",
    protects: "everyone else's storage",
    refusal: REACHED,
    setting: "none",
  },
  membersJoinedPerMerchantAndDay: {
    counts: "members who join a team in 24 hours; the numbers of members and invitations are not limited",
    protects: "the mails to every member, and the reads of every member",
    refusal: REACHED,
    setting: "none",
  },
  imageBytes: {
    counts: "bytes of one image, uploaded or fetched; no more are read",
    protects: "everyone else's storage",
    refusal: "400 `IMAGE_REFUSED`",
    setting: "none",
  },
  imagesPerMerchant: {
    counts: "logos and product images of a merchant; an image that is not used for 7 days is deleted",
    protects: "everyone else's storage",
    refusal: REACHED,
    setting: "none",
  },
  imageBytesPerMerchant: {
    counts: "total bytes of a merchant's images",
    protects: "everyone else's storage",
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
    counts:
      "sign-in codes requested in an hour by all browsers that have signed in to an address before, counted together because each sign-in gives a new proof",
    protects: "the reputation of the sender's domain",
    refusal: TOO_OFTEN,
    setting: "none",
  },
  triesPerMailedCode: {
    counts: "wrong attempts at one mailed code in the browser that requested it; the code is then invalid",
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
      "amounts within 1 % of a price that a merchant without proof holds at an address that others have registered too (and at most half of what `percentOfAmountsWithoutProof` leaves them all). A merchant has no proof while its payments there that were matched by exact amount and confirmed add up to less than 50 USD, or to less than a tenth of another merchant's sum",
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
} as const satisfies LimitTexts;
