// The parts of the settings, in order. Each has a heading and an anchor in the page's address.

export const PARTS = {
  merchant: { title: "Merchant", group: "Shop" },
  brand: { title: "Brand", group: "Shop" },
  paid: { title: "When an invoice is paid", group: "Payments" },
  times: { title: "Time limits", group: "Payments" },
  email: { title: "Email", group: "Payments" },
  "wallet-delay": { title: "Wallet change delay", group: "Security" },
  embedding: { title: "Sites that may embed the checkout", group: "Security" },
  limits: { title: "Limits", group: "Security" },
  delete: { title: "Delete merchant", group: "Security" },
} as const;

export type Part = keyof typeof PARTS;
