// Pages of the console, named in one place: the Worker answers them with the console's page, and the console's own router
// (dashboard/src/router.tsx) shows what belongs there.

export const CONSOLE_PAGES = {
  signIn: { path: "/sign-in", summary: "Show the page for signing in" },
  invitation: {
    path: "/invitations",
    summary: "Show the page that an invitation's mail links to; the token is in the fragment",
  },
  disableWallet: {
    path: "/wallets/disable",
    summary: "Show the page that the mail about a wallet's change links to; the token is in the fragment",
  },
  start: { path: "/console", summary: "Open the console at the merchant that was open last" },
  welcome: { path: "/console/welcome", summary: "Name a merchant, and make its first wallet and product" },
  account: { path: "/console/account", summary: "Show and change your own account" },
  merchant: { path: "/console/:merchantId", summary: "Open a merchant in the console" },
  invoices: { path: "/console/:merchantId/invoices", summary: "List a merchant's invoices" },
  invoice: { path: "/console/:merchantId/invoices/:invoiceId", summary: "Show an invoice" },
} as const;
