// Who may call each route, written by hand from decisions 7, 9 and 10 and security.md 1. The access tests check the Worker against this table, and
// fail if it lacks a route.

const MERCHANT = "/api/v1/merchants/merchant/:merchantId";
const TEAM = `${MERCHANT}/team`;
const KEYS = `${MERCHANT}/api-keys`;
const HOOKS = `${MERCHANT}/webhooks`;
const ME = "/api/v1/me";
const AUTH = "/api/v1/auth";

/** `public`: a `pk_` key may call. `step-up`: a user must have stepped up. `owner`: among users, only the OWNER. */
type Demand = "public" | "step-up" | "owner";

interface Need {
  /** As spelled on an API key; "A or B" if either is sufficient. */
  readonly permission: string;
  readonly demands: readonly Demand[];
}

/** The permissions in `permission`, each of which is sufficient. */
export const alternativesIn = (permission: string): readonly string[] => permission.split(" or ");

const need = (permission: string, ...demands: readonly Demand[]): Need => ({ permission, demands });

/** Merchant routes for the merchant's keys and members. */
export const KEY_OR_MEMBER: Readonly<Record<string, Need>> = {
  [`GET ${MERCHANT}`]: need("MERCHANT_VIEW"),
  [`PATCH ${MERCHANT}`]: need("MERCHANT_UPDATE"),
  [`DELETE ${MERCHANT}`]: need("MERCHANT_DELETE", "step-up", "owner"),
  [`GET ${MERCHANT}/settings`]: need("MERCHANT_VIEW"),
  [`PATCH ${MERCHANT}/settings`]: need("MERCHANT_UPDATE"),
  [`POST ${MERCHANT}/images`]: need("MERCHANT_UPDATE"),
  [`POST ${MERCHANT}/wallets`]: need("WALLET_CREATE", "step-up"),
  [`GET ${MERCHANT}/wallets`]: need("WALLET_VIEW"),
  [`GET ${MERCHANT}/wallets/:walletId`]: need("WALLET_VIEW"),
  [`PATCH ${MERCHANT}/wallets/:walletId`]: need("WALLET_UPDATE", "step-up"),
  [`DELETE ${MERCHANT}/wallets/:walletId`]: need("WALLET_DELETE", "step-up"),
  [`GET ${MERCHANT}/wallets/:walletId/addresses`]: need("WALLET_VIEW"),
  [`GET ${MERCHANT}/wallets/:walletId/networks`]: need("WALLET_CREATE"),
  [`GET ${MERCHANT}/wallets/:walletId/recovery`]: need("WALLET_VIEW"),
  [`POST ${MERCHANT}/invoices`]: need("INVOICE_CREATE", "public"),
  [`GET ${MERCHANT}/invoices`]: need("INVOICE_VIEW"),
  [`GET ${MERCHANT}/invoices/:invoiceId`]: need("INVOICE_VIEW", "public"),
  [`PATCH ${MERCHANT}/invoices/:invoiceId`]: need("INVOICE_UPDATE"),
  [`POST ${MERCHANT}/invoices/:invoiceId/cancel`]: need("INVOICE_CANCEL"),
  [`POST ${MERCHANT}/invoices/:invoiceId/resolve`]: need("PAYMENT_RESOLVE"),
  [`GET ${MERCHANT}/invoices/:invoiceId/payment-methods`]: need("INVOICE_VIEW", "public"),
  [`POST ${MERCHANT}/invoices/:invoiceId/payment-methods`]: need("INVOICE_CREATE", "public"),
  [`GET ${MERCHANT}/invoices/:invoiceId/payments`]: need("PAYMENT_VIEW"),
  [`GET ${MERCHANT}/payments`]: need("PAYMENT_VIEW"),
  [`GET ${MERCHANT}/payments/:paymentId`]: need("PAYMENT_VIEW"),
  [`POST ${MERCHANT}/payments/lookup`]: need("PAYMENT_RESOLVE"),
  [`POST ${MERCHANT}/payments/:paymentId/resolve`]: need("PAYMENT_RESOLVE"),
  [`GET ${MERCHANT}/products`]: need("PRODUCT_VIEW", "public"),
  [`POST ${MERCHANT}/products`]: need("PRODUCT_CREATE"),
  [`GET ${MERCHANT}/products/:productId`]: need("PRODUCT_VIEW", "public"),
  [`PATCH ${MERCHANT}/products/:productId`]: need("PRODUCT_UPDATE"),
  [`DELETE ${MERCHANT}/products/:productId`]: need("PRODUCT_DELETE"),
  [`GET ${MERCHANT}/customers`]: need("CUSTOMER_VIEW"),
  [`POST ${MERCHANT}/customers`]: need("CUSTOMER_UPDATE"),
  [`GET ${MERCHANT}/customers/:customerId`]: need("CUSTOMER_VIEW"),
  [`PATCH ${MERCHANT}/customers/:customerId`]: need("CUSTOMER_UPDATE"),
  [`DELETE ${MERCHANT}/customers/:customerId`]: need("CUSTOMER_DELETE"),
  [`GET ${MERCHANT}/customers/:customerId/resume`]: need("CUSTOMER_VIEW"),
  [`GET ${MERCHANT}/reports/totals`]: need("INVOICE_VIEW"),
  [`GET ${MERCHANT}/reports/payments.jsonl`]: need("PAYMENT_VIEW"),
  [`GET ${MERCHANT}/reports/payments.csv`]: need("PAYMENT_VIEW"),
  [`GET ${MERCHANT}/reports/invoices.jsonl`]: need("INVOICE_VIEW"),
  [`GET ${MERCHANT}/reports/invoices.csv`]: need("INVOICE_VIEW"),
  [`GET ${MERCHANT}/reports/statement.jsonl`]: need("PAYMENT_VIEW"),
  [`GET ${MERCHANT}/reports/statement.csv`]: need("PAYMENT_VIEW"),
  [`GET ${MERCHANT}/search`]: need("INVOICE_VIEW or CUSTOMER_VIEW or PAYMENT_VIEW"),
  [`GET ${MERCHANT}/attention`]: need("PAYMENT_VIEW or INVOICE_VIEW or WALLET_VIEW or WEBHOOK_VIEW"),
  [`GET ${MERCHANT}/readiness`]: need("WALLET_VIEW"),
  [`GET ${KEYS}`]: need("API_KEY_VIEW"),
  [`POST ${KEYS}`]: need("API_KEY_CREATE", "step-up"),
  [`GET ${KEYS}/:apiKeyId`]: need("API_KEY_VIEW"),
  [`PATCH ${KEYS}/:apiKeyId`]: need("API_KEY_CREATE"),
  [`POST ${KEYS}/:apiKeyId/rotate`]: need("API_KEY_CREATE", "step-up"),
  [`POST ${MERCHANT}/applications`]: need("API_KEY_CREATE", "step-up"),
  [`DELETE ${KEYS}/:apiKeyId`]: need("API_KEY_DELETE"),
  [`GET ${MERCHANT}/audit-events`]: need("AUDIT_VIEW"),
  [`GET ${MERCHANT}/events`]: need("WEBHOOK_VIEW"),
  [`GET ${MERCHANT}/events/:eventId`]: need("WEBHOOK_VIEW"),
  [`GET ${MERCHANT}/events/:eventId/deliveries`]: need("WEBHOOK_VIEW"),
  [`GET ${HOOKS}`]: need("WEBHOOK_VIEW"),
  [`POST ${HOOKS}`]: need("WEBHOOK_CREATE", "step-up"),
  [`GET ${HOOKS}/:webhookId`]: need("WEBHOOK_VIEW"),
  [`PATCH ${HOOKS}/:webhookId`]: need("WEBHOOK_UPDATE", "step-up"),
  [`DELETE ${HOOKS}/:webhookId`]: need("WEBHOOK_DELETE", "step-up"),
  [`POST ${HOOKS}/:webhookId/ping`]: need("WEBHOOK_UPDATE"),
  [`POST ${HOOKS}/:webhookId/rotate-secret`]: need("WEBHOOK_UPDATE", "step-up"),
  [`GET ${HOOKS}/:webhookId/deliveries`]: need("WEBHOOK_VIEW"),
  [`GET ${HOOKS}/:webhookId/deliveries/:deliveryId`]: need("WEBHOOK_VIEW"),
  [`POST ${HOOKS}/:webhookId/deliveries/:deliveryId/redeliver`]: need("WEBHOOK_UPDATE"),
  [`POST ${HOOKS}/:webhookId/replay`]: need("WEBHOOK_UPDATE"),
};

/** Merchant routes for members only: an API key gets 403 (decisions 9). */
export const MEMBER_ONLY: Readonly<Record<string, Need>> = {
  [`GET ${MERCHANT}/live`]: need("INVOICE_VIEW"),
  [`GET ${TEAM}/members`]: need("TEAM_VIEW"),
  [`PATCH ${TEAM}/members/:memberId`]: need("TEAM_UPDATE", "step-up"),
  [`DELETE ${TEAM}/members/:memberId`]: need("TEAM_REMOVE"),
  [`POST ${TEAM}/members/:memberId/transfer-ownership`]: need("TEAM_VIEW", "step-up", "owner"),
  [`POST ${TEAM}/leave`]: need("TEAM_VIEW"),
  [`GET ${TEAM}/invitations`]: need("TEAM_VIEW"),
  [`POST ${TEAM}/invitations`]: need("TEAM_INVITE"),
  [`POST ${TEAM}/invitations/:invitationId/resend`]: need("TEAM_INVITE"),
  [`DELETE ${TEAM}/invitations/:invitationId`]: need("TEAM_INVITE"),
  [`GET ${TEAM}/security`]: need("TEAM_VIEW"),
  [`PATCH ${TEAM}/security`]: need("TEAM_VIEW", "step-up", "owner"),
};

/** Routes for secret keys only, whatever their permissions. */
export const KEY_ONLY: readonly string[] = ["POST /mcp"];

/** User routes, independent of merchants. `pending`: also allowed before the second factor. `operator`: only for operators. */
export const USER: Readonly<Record<string, readonly ("step-up" | "pending" | "operator")[]>> = {
  [`POST ${AUTH}/sign-out`]: ["pending"],
  [`POST ${AUTH}/second-factor/start`]: ["pending"],
  [`POST ${AUTH}/second-factor/verify`]: ["pending"],
  [`POST ${AUTH}/step-up/start`]: [],
  [`POST ${AUTH}/step-up/verify`]: [],
  [`GET ${ME}`]: [],
  [`PATCH ${ME}`]: [],
  [`GET ${ME}/audit-events`]: [],
  [`GET ${ME}/sessions`]: [],
  [`DELETE ${ME}/sessions`]: [],
  [`DELETE ${ME}/sessions/:sessionId`]: [],
  [`POST ${ME}/totp`]: ["step-up"],
  [`POST ${ME}/totp/confirm`]: ["step-up"],
  [`POST ${ME}/totp/backup-codes`]: ["step-up"],
  [`DELETE ${ME}/totp`]: ["step-up"],
  [`POST ${ME}/email-otp`]: ["step-up"],
  [`DELETE ${ME}/email-otp`]: ["step-up"],
  [`GET ${ME}/passkeys`]: [],
  [`POST ${ME}/passkeys/options`]: ["step-up"],
  [`POST ${ME}/passkeys`]: ["step-up"],
  [`PATCH ${ME}/passkeys/:passkeyId`]: [],
  [`DELETE ${ME}/passkeys/:passkeyId`]: ["step-up"],
  [`GET ${ME}/identities`]: [],
  [`POST ${ME}/identities/:provider`]: ["step-up"],
  [`DELETE ${ME}/identities/:provider/:subject`]: ["step-up"],
  "GET /api/v1/operator/keys": ["operator"],
  "GET /api/v1/operator/status": ["operator"],
  "GET /api/v1/operator/merchants": ["operator"],
  "POST /api/v1/operator/merchants/:merchantId/suspension": ["operator", "step-up"],
  "DELETE /api/v1/operator/merchants/:merchantId/suspension": ["operator", "step-up"],
  "POST /api/v1/operator/alerts/test": ["operator", "step-up"],
  "POST /api/v1/operator/alerts/proof": ["operator", "step-up"],
  "GET /api/v1/operator/networks": ["operator"],
  "POST /api/v1/operator/networks/:network/pause": ["operator", "step-up"],
  "DELETE /api/v1/operator/networks/:network/pause": ["operator", "step-up"],
  "POST /api/v1/operator/networks/:network/trial": ["operator", "step-up"],
  "POST /api/v1/operator/networks/:network/reread": ["operator", "step-up"],
  "DELETE /api/v1/operator/networks/:network/reread": ["operator", "step-up"],
  "GET /api/v1/operator/operators": ["operator"],
  "POST /api/v1/operator/operators": ["operator", "step-up"],
  "DELETE /api/v1/operator/operators/:userId": ["operator", "step-up"],
  "GET /api/v1/operator/restore": ["operator"],
  "GET /api/v1/operator/restore/findings": ["operator"],
  "POST /api/v1/operator/restore/findings/:findingId/review": ["operator", "step-up"],
  "GET /dev/chain": [],
  "PATCH /dev/chain": [],
  "POST /dev/payments": [],
  "GET /api/v1/merchants": [],
  "POST /api/v1/merchants": [],
  "GET /api/v1/team/invitations": [],
  "POST /api/v1/team/invitations/accept": [],
  "POST /api/v1/team/invitations/:invitationId/accept-by-id": [],
};

/** Routes that anyone may call. If a route needs proof, such as a token or a signature, it checks that itself. */
export const OPEN: readonly string[] = [
  "GET /healthz",
  "GET /metrics",
  "GET /openapi.json",
  "GET /greenfield.json",
  "GET /docs",
  "GET /dev/mail",
  "GET /",
  "GET /console",
  "GET /console/welcome",
  "GET /console/account",
  "GET /operator",
  "GET /console/:merchantId",
  "GET /console/:merchantId/invoices",
  "GET /console/:merchantId/invoices/:invoiceId",
  "GET /console/:merchantId/payments",
  "GET /console/:merchantId/payments/:paymentId",
  "GET /console/:merchantId/reports",
  "GET /console/:merchantId/wallets",
  "GET /console/:merchantId/wallets/:walletId",
  "GET /console/:merchantId/readiness",
  "GET /console/:merchantId/products",
  "GET /console/:merchantId/products/:productId",
  "GET /console/:merchantId/customers",
  "GET /console/:merchantId/customers/:customerId",
  "GET /console/:merchantId/developers",
  "GET /console/:merchantId/developers/endpoints/:webhookId",
  "GET /console/:merchantId/team",
  "GET /console/:merchantId/settings",
  "GET /console/:merchantId/audit",
  "GET /sign-in",
  "GET /setup",
  "GET /api-keys/authorize",
  "GET /invitations",
  "GET /wallets/disable",
  "GET /images/:merchantId/:name",
  "GET /api/v1/explorers",
  `GET ${AUTH}/methods`,
  `POST ${AUTH}/email/start`,
  `POST ${AUTH}/email/verify`,
  `POST ${AUTH}/passkey/options`,
  `POST ${AUTH}/passkey/verify`,
  `GET ${AUTH}/:provider/start`,
  `GET ${AUTH}/:provider/callback`,
  "POST /api/v1/wallets/disable",
  "POST /api/v1/setup/options",
  "POST /api/v1/setup",
  "GET /api/v1/checkout/:invoiceId",
  "POST /api/v1/checkout/:invoiceId/payment-methods",
  "POST /api/v1/checkout/:invoiceId/claims",
  "GET /.well-known/edgetill-keys.json",
  "GET /pay/:invoiceId/live",
];

/** The routes that production serves before a set-up link is redeemed (security.md 5). */
export const BEFORE_SET_UP: readonly string[] = [
  "GET /healthz",
  "GET /setup",
  "POST /api/v1/setup/options",
  "POST /api/v1/setup",
];

/** Payers' pages: forms that anyone may send. A refusal is shown as a page. */
export const PAGES: readonly string[] = [
  "GET /pay/:invoiceId",
  "GET /pay/:invoiceId/state",
  "GET /pay/:invoiceId/receipt",
  "GET /pay/:invoiceId/return",
  "POST /pay/:invoiceId/methods",
  "POST /pay/:invoiceId/claims",
  "GET /i/:invoiceId",
  "GET /invoice",
  "GET /buy/:productId",
  "POST /buy/:productId",
];

/** Routes that pages of any origin may call, with CORS headers on the response and the preflight (decisions 1 "CORS"). */
export const FROM_ANY_PAGE: readonly string[] = [
  "GET /api/v1/checkout/:invoiceId",
  "POST /api/v1/checkout/:invoiceId/payment-methods",
  "POST /api/v1/checkout/:invoiceId/claims",
  "GET /.well-known/edgetill-keys.json",
];

const VIEWS = [
  "MERCHANT_VIEW",
  "TEAM_VIEW",
  "INVOICE_VIEW",
  "PRODUCT_VIEW",
  "CUSTOMER_VIEW",
  "WALLET_VIEW",
  "PAYMENT_VIEW",
  "WEBHOOK_VIEW",
  "API_KEY_VIEW",
  "AUDIT_VIEW",
];
const MEMBERS = [...VIEWS, "INVOICE_CREATE", "INVOICE_UPDATE", "PRODUCT_CREATE", "PRODUCT_UPDATE", "CUSTOMER_UPDATE"];
const NOT_ADMINS = ["MERCHANT_DELETE", "MERCHANT_BILLING"];

/** Whether a role holds a permission (decisions 7, the table of domains). */
export const ROLE_HOLDS = {
  OWNER: () => true,
  ADMIN: (permission: string) => !NOT_ADMINS.includes(permission),
  MEMBER: (permission: string) => MEMBERS.includes(permission),
  VIEWER: (permission: string) => VIEWS.includes(permission),
} as const;

/**
 * Writes without an Idempotency-Key, written by hand from decisions 6: routes for callers without credentials, MCP, all of sign-in, and responses
 * that set a cookie. Every other request that is not a GET takes one.
 */
export const WITHOUT_KEY: readonly string[] = [
  // Callers without credentials: links in emails, set-up, payers.
  "disableWalletByLink",
  "beginSetUp",
  "redeemSetUpLink",
  "claimPayment",
  "claimOnCheckout",
  "pickOnCheckout",
  "buyProduct",
  // Each MCP tool that writes has its own key.
  "mcp",
  // Sign-in: codes that work once, and cookies.
  "startEmailSignIn",
  "verifyEmailSignIn",
  "beginPasskeySignIn",
  "verifyPasskeySignIn",
  "startSecondFactor",
  "verifySecondFactor",
  "startStepUp",
  "verifyStepUp",
  "signOut",
  "confirmTotp",
  "startIdentityLink",
];

/** Requests that cannot be repeated. After a lost response the user signs in again or requests another link. */
export const ONCE_ONLY: readonly string[] = [
  "disableWalletByLink",
  "redeemSetUpLink",
  "verifyEmailSignIn",
  "verifyPasskeySignIn",
  "verifySecondFactor",
  "verifyStepUp",
  "signOut",
  "confirmTotp",
];

export const takesKey = ({ method, operationId }: { readonly method: string; readonly operationId: string }) =>
  method !== "GET" && !WITHOUT_KEY.includes(operationId);
