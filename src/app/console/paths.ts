// The list of the console's pages. The Worker answers each path with the same HTML page, in which the console's own router (dashboard/src/router.tsx)
// shows the content for the path.

export const CONSOLE_PAGES = {
  signIn: { path: "/sign-in", summary: "Show the sign-in page" },
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
  start: { path: "/console", summary: "Open the console with the merchant that was opened last" },
  welcome: { path: "/console/welcome", summary: "Name a merchant, and create its first wallet and product" },
  account: { path: "/console/account", summary: "Show and change your own account" },
  operator: { path: "/operator", summary: "Show operators the state of the deployment and its switches" },
  merchant: { path: "/console/:merchantId", summary: "Open a merchant in the console" },
  invoices: { path: "/console/:merchantId/invoices", summary: "List a merchant's invoices" },
  invoice: { path: "/console/:merchantId/invoices/:invoiceId", summary: "Show an invoice" },
  payments: {
    path: "/console/:merchantId/payments",
    summary: "List payments, with those that wait for a decision first",
  },
  payment: { path: "/console/:merchantId/payments/:paymentId", summary: "Show a payment, and decide about it" },
  reports: { path: "/console/:merchantId/reports", summary: "Show a merchant's totals, and export them" },
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
  team: {
    path: "/console/:merchantId/team",
    summary: "Show a merchant's team, its invitations and its security settings",
  },
  settings: { path: "/console/:merchantId/settings", summary: "Show and change a merchant's settings" },
  audit: { path: "/console/:merchantId/audit", summary: "Show a merchant's audit log" },
} as const;
