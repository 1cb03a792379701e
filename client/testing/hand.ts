// What a test does as the customer, and what it sees of deliveries.

/** A transfer to one of the merchant's addresses. */
export interface Transfer {
  /** The pair that is paid with; unless given the invoice's only active one. */
  readonly cryptocurrency?: string | undefined;
  readonly network?: string | undefined;
  /** In whole coins, such as "49.9"; unless given what is still due. */
  readonly amount?: string | undefined;
  /** Whether it has all its confirmations at once; true unless given. */
  readonly isConfirmed?: boolean | undefined;
}

/** An event that was handed to your code, and the status that it answered. */
export interface Delivered {
  readonly eventId: string;
  readonly type: string;
  readonly webhookId: string;
  readonly status: number;
}
