// The one list of limits for callers and merchants. docs/limits.md is generated from these numbers (`npm run docs:limits`), and a refusal names the
// limit as it is named here. If a merchant can change a limit, this is the default.

import { MINUTE_MS } from "./time.ts";

export const LIMITS = {
  requestsPerIpAndMinute: 1_200,
  requestsPerCallerAndMinute: 300,
  bodyBytes: 65_536,
  bodyDepth: 8,
  bodyValues: 1_000,
  checksumsPerBody: 120,
  failedCredentialsPerIpAndMinute: 120,
  publicKeyRequestsPerIpAndMinute: 30,
  callersPerIpv6Site: 4,
  maxActiveInvoices: 10_000,
  maxPublicInvoices: 1_000,
  publicInvoicesPerIp: 20,
  publicInvoiceHours: 24,
  publicAddressesPerIp: 2,
  publicGapLimit: 20,
  publicGapPerHour: 1,
  pagesPerIpAndMerchant: 50,
  locationChangesPerCustomerAndHour: 12,
  productFormsPerIpAndMinute: 10,
  methodPicksPerIpAndMinute: 30,
  claimsPerIpAndHour: 30,
  claimsPerInvoiceAndHour: 6,
  checkoutPagesPerInvoice: 20,
  checkoutPagesPerMerchant: 10_000,
  liveConnectionsPerMember: 10,
  liveConnectionsPerMerchant: 200,
  paymentsPerInvoice: 200,
  paymentsEverPerInvoice: 600,
  paymentsByHandPerInvoice: 400,
  unmatchedPerAddressAndDay: 100,
  merchantsPerUnmatchedTransfer: 100,
  lookupsPerMerchantAndHour: 60,
  networkChecksPerMerchantAndHour: 60,
  sourceTrialsPerNetworkAndMinute: 4,
  exportsPerMerchantAndMinute: 60,
  webhookEndpointsPerMerchant: 25,
  eventsPerReplay: 10_000,
  reportDays: 400,
  blocksPerReread: 1_000_000,
  webhookWorkersPerMerchant: 12,
  replaysPerMerchantAndHour: 10,
  merchantsMadePerUserAndDay: 20,
  keysPerMerchant: 100,
  membersJoinedPerMerchantAndDay: 500,
  imageBytes: 32_768,
  imagesPerMerchant: 200,
  imageBytesPerMerchant: 20_000_000,
  invitationMailsPerMerchantAndDay: 500,
  invitationMailsPerUserAndDay: 200,
  invitationMailsPerMailboxAndDay: 10,
  receiptsPerMailboxMerchantAndDay: 20,
  receiptsPerMerchantAndDay: 2_000,
  signInCodesPerAddressAndNetworkAndHour: 5,
  signInCodesPerNetworkAndHour: 20,
  signInCodesPerAddressAndDay: 30,
  triesPerMailedCode: 5,
  signInCodesPerKnownBrowserAndHour: 20,
  signInCodesForKnownBrowsersPerAddressAndHour: 100,
  minutesBetweenNotices: 10,
  wrongFactorsPerSession: 10,
  wrongFactorsPerUserAndDay: 100,
  amountsWithoutProof: 8,
  percentOfAmountsWithoutProof: 25,
  percentOfAmountsForPublic: 50,
  addressesWithoutProof: 2,
  lifetimeSecondsWithoutProof: 86_400,
} as const satisfies Readonly<Record<string, number>>;

export type LimitName = keyof typeof LIMITS;

/** The refusal for a caller who has reached a limit. */
export function limitReached(name: LimitName) {
  return { code: "LIMIT_REACHED", name, limit: LIMITS[name] } as const;
}

/** A page that may show something older than this reads everything again when its live updates begin. */
export const LIVE_READ_WITHIN_MS = 10 * MINUTE_MS;
