// Types for what a test does as the customer, and for the deliveries to the shop's code.

/** A transfer to one of the merchant's addresses. */
export interface Transfer {
  /** The pair to pay with; by default the invoice's only active one. */
  readonly cryptocurrency?: string | undefined;
  readonly network?: string | undefined;
  /** In whole coins, such as "49.9"; by default the amount still due. */
  readonly amount?: string | undefined;
  /** Whether the transfer has all its confirmations at once; true by default. */
  readonly isConfirmed?: boolean | undefined;
}

/** An event that was delivered to your code, and the status of its answer. */
export interface Delivered {
  readonly eventId: string;
  readonly type: string;
  readonly webhookId: string;
  readonly status: number;
}
