// Pages of the console, named in one place: the Worker answers them with the console's page, and the console's own router
// (dashboard/src/router.tsx) shows what belongs there.

export const CONSOLE_PAGES = {
  signIn: { path: "/sign-in", summary: "Show the page for signing in" },
  setUp: { path: "/setup", summary: "Show the page that a set-up link opens; the token is in the fragment" },
  invitation: {
    path: "/invitations",
    summary: "Show the page that an invitation's mail links to; the token is in the fragment",
  },
  disableWallet: {
    path: "/wallets/disable",
    summary: "Show the page that the mail about a wallet's change links to; the token is in the fragment",
  },
  authorize: {
    path: "/api-keys/authorize",
    summary: "Ask a person to give an application a key, as BTCPay Server does",
  },
  start: { path: "/console", summary: "Open the console at the merchant that was open last" },
  welcome: { path: "/console/welcome", summary: "Name a merchant, and make its first wallet and product" },
  account: { path: "/console/account", summary: "Show and change your own account" },
  operator: { path: "/operator", summary: "Show how the deployment is, and its switches, to its operators" },
  merchant: { path: "/console/:merchantId", summary: "Open a merchant in the console" },
  invoices: { path: "/console/:merchantId/invoices", summary: "List a merchant's invoices" },
  invoice: { path: "/console/:merchantId/invoices/:invoiceId", summary: "Show an invoice" },
  payments: { path: "/console/:merchantId/payments", summary: "List payments, first those that wait for a decision" },
  payment: { path: "/console/:merchantId/payments/:paymentId", summary: "Show a payment, and decide about it" },
  reports: { path: "/console/:merchantId/reports", summary: "Show totals of a merchant, and export them" },
  wallets: { path: "/console/:merchantId/wallets", summary: "List a merchant's receiving wallets" },
  wallet: { path: "/console/:merchantId/wallets/:walletId", summary: "Show a receiving wallet, and change it" },
  readiness: { path: "/console/:merchantId/readiness", summary: "Show whether a merchant can be paid now" },
  products: { path: "/console/:merchantId/products", summary: "List a merchant's products" },
  product: { path: "/console/:merchantId/products/:productId", summary: "Show a product, its link and its button" },
  customers: { path: "/console/:merchantId/customers", summary: "List a merchant's customers" },
  customer: { path: "/console/:merchantId/customers/:customerId", summary: "Show a customer and their invoices" },
  developers: { path: "/console/:merchantId/developers", summary: "Show a merchant's API keys, endpoints and events" },
  endpoint: {
    path: "/console/:merchantId/developers/endpoints/:webhookId",
    summary: "Show an endpoint, and what was delivered to it",
  },
  team: { path: "/console/:merchantId/team", summary: "Show a merchant's team, its invitations and what it demands" },
  settings: { path: "/console/:merchantId/settings", summary: "Show and change a merchant's settings" },
  audit: { path: "/console/:merchantId/audit", summary: "List who changed what of a merchant" },
} as const;
