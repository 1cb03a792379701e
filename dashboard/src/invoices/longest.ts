/** Lengths from the contract (createInvoiceBody). */
export const LONGEST = {
  name: 200,
  externalId: 200,
  description: 1_000,
  customerName: 200,
  customerAddress: 500,
  customerPhoneNumber: 50,
} as const;
