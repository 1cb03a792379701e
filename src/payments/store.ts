import { payments } from "../db/schema/payments.ts";
import { insertTemplate } from "../db/template.ts";

/** Writes a payment, over the row it has; the table's keys refuse a transfer that is another row already (conflict.ts). */
export const putPayment = insertTemplate(payments, [payments.id]);
