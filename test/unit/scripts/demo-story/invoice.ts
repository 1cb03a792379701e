import type { Invoice, Payment } from "../../../../scripts/demo-story/shop.ts";

type Path = readonly Invoice["status"][];

const AT = "2026-11-21T09:00:00.000Z";
const INVOICE_ID = "inv_01M7XZ9WM3FTR1PNZBVPPCS17R";

/** An invoice for 10 USD as the API returns it after these statuses. Nothing has been received unless `changes` says so. */
export function anInvoice(path: Path, changes: Partial<Invoice> = {}): Invoice {
  return {
    id: INVOICE_ID,
    rawAmount: "10.000000",
    amountReceived: "0.000000",
    payments: [],
    isLate: false,
    ...changes,
    status: path.at(-1) ?? "AWAITING_PAYMENT",
    invoiceTimeline: path.map((paymentStatus, at) => ({
      id: `itl_${at}`,
      invoiceId: INVOICE_ID,
      paymentStatus,
      time: AT,
    })),
  } as Partial<Invoice> as Invoice;
}

export function aPayment(status: Payment["status"], confirmations = 3): Payment {
  return { status, confirmations, requiredConfirmations: 3 } as Partial<Payment> as Payment;
}
