// What each tool is for, written for an assistant: when to use it, and what to do with its result. Read when the static assets are built.

/** The texts by operation. */
export const TOOL_TEXTS: Readonly<Record<string, string>> = {
  listWallets:
    "Lists the merchant's wallets, oldest first: the addresses and extended public keys that receive all payments. Use it to find out which coins and networks customers can pay with. Wallets can only be read here.",
  getWallet: "Reads one wallet: its coin and network, whether new invoices use it, and warnings about it.",
  previewAddresses:
    "Shows addresses derived from an extended key, to compare them with wallet software. It uses none of them up.",
  checkNetworks:
    "Checks on which other EVM networks the address of a wallet may be used. None is FREE if the address is a contract, such as a Safe, on any of them. A person then registers it in the console.",
  getReadiness:
    "Says for each coin and network whether the shop can be paid with it now, or why not: no wallet, no current price, a network that is paused or cannot be read. Coins with `isTest` are worth nothing, and the `canBePaid` at the top does not count them. Use it before you promise that a customer can pay with a coin, and when payments do not arrive.",
  createInvoice:
    "Creates an invoice that a customer pays in cryptocurrency. Give `name` and `rawAmount`, or a `productId`. The result has `checkoutUrl`, the page to send to the customer. Name `paymentMethods` to get an address and an exact amount at once. If none is named and only one is available, that one is activated.",
  listInvoices:
    "Lists invoices, newest first. Filter by `status`, customer or time, by `externalId` for an order number, or by `needsReview` for those that wait for a decision. To continue, pass `nextCursor` as `cursor`.",
  getInvoice:
    "Reads one invoice as it is now: status, what was received, payments, and the history of its status. Use it before you say whether an order is paid.",
  updateInvoice:
    "Changes an invoice's texts, metadata or customer. Only while it awaits payment; its amount never changes.",
  cancelInvoice: "Cancels an invoice that has received no payment. It cannot be undone.",
  resolveInvoice:
    "Decides about an invoice by hand, with a reason. ACCEPT makes it PAID, whatever was received. DISMISS removes it from the review queue. RETURNED does the same and records that the money was sent back. ASK_FOR_REST makes the page of an invoice that has ended ask for the missing amount. The invoice's `recommendation` says which action is advised, and why. Ask a person first.",
  listPaymentMethods:
    "Lists how an invoice can be paid: methods that are active, with address and amount; available; or unavailable, with the reason.",
  activatePaymentMethod:
    "Activates a coin and network for an invoice: locks the rate and assigns the address or the exact amount that the customer has to send.",
  listPayments:
    "Lists transfers to the merchant's addresses, newest first. UNMATCHED ones fit no invoice and wait for a decision; IGNORED ones are too small or were set aside.",
  getPayment:
    "Reads one payment with its evidence: the block, the rule that credited it, the invoices that were considered and why they were not credited, and what payers claimed. Read it before you decide about a payment.",
  lookUpPayment:
    "Reads a transaction from its chain at once, by its hash. What it pays to the merchant is credited by the usual rules, or stored as UNMATCHED. The list is empty if it pays nothing to the merchant. Safe to repeat, up to 60 times an hour.",
  resolvePayment:
    "Decides about a payment that no rule credited, with a reason. ASSIGN credits it to an invoice, which is settled at once. IGNORE records that it belongs to no invoice and may have been sent back, and REOPEN undoes that. The payment's `recommendation` says what is advised. Ask a person first.",
  listInvoicePayments: "Lists the payments that were credited to an invoice.",
  createProduct:
    "Creates a product with a fixed price. The result has `checkoutUrl`, a page where any number of customers can buy it.",
  listProducts: "Lists products, newest first.",
  getProduct: "Reads one product.",
  updateProduct:
    "Changes a product: fields that are left out keep their values, and null clears a field. Invoices show the new texts; the amounts that they ask for never change.",
  deleteProduct: "Deletes a product, so that it can no longer be bought. Invoices that were made with it keep it.",
  upsertCustomer:
    "Creates a customer, or changes the one with this email: fields that are left out keep their values, and null clears a field. Without an email, a new customer is always created.",
  listCustomers: "Lists customers, newest first.",
  getCustomer: "Reads one customer, and from which country and city they last opened a payment page.",
  getCustomerResume: "Adds up what a customer was invoiced and has paid.",
  updateCustomer: "Changes a customer: fields that are left out keep their values, and null clears a field.",
  deleteCustomer:
    "Erases a customer's personal data and keeps their invoices. It cannot be undone: ask a person first. A later invoice with the same email makes a new customer.",
  getTotals:
    "Counts invoices and adds up payments by day, week or month. Payments, including late ones, count at the time at which they were received; an invoice counts by its current status, in the period in which it got that status. So a later change may take something out of an earlier period.",
  search:
    "Finds invoices, customers and payments by what is known about them: words, an order number, an email, an amount, a transaction or an address. Start here if no id is known. Each kind is shown only if the key may view it.",
};
