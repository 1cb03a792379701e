// Email about invoices marked as settled by hand, after which the shop may deliver although no money has arrived.
import { formatMicros } from "../../lib/money.ts";
import { isoTime } from "../../lib/time.ts";
import { composeMail } from "../../platform/mail/compose.ts";
import type { Mail } from "../../platform/mail/mail.ts";
import { linkless, subjectNaming } from "../../platform/mail/names.ts";
import type { Invoice } from "../invoice-records/invoice.ts";

interface Marked {
  readonly merchantName: string;
  /** The author of the marks, as named in emails. */
  readonly author: string;
  /** The invoice, or the number of invoices marked since the last email. */
  readonly marked: Pick<Invoice, "id" | "confirmedMicros" | "amountMicros" | "currency"> | number;
  readonly nowMs: number;
}

export function markMail(to: string, { merchantName, author, marked, nowMs }: Marked): Mail {
  const shop = linkless(merchantName);
  const many = typeof marked === "number" && marked > 1;
  const what = many ? `${marked} more invoices` : "an invoice";
  const facts =
    typeof marked === "number"
      ? [
          `${author} marked ${many ? what : "one more invoice"} of ${shop} as settled until ${isoTime(nowMs)}. The audit log names each.`,
        ]
      : [
          `${author} marked the invoice ${marked.id} of ${shop} as settled at ${isoTime(nowMs)}.`,
          `Received and confirmed by then: ${formatMicros(marked.confirmedMicros)} of ${formatMicros(marked.amountMicros)} ${marked.currency}. Your shop may deliver anyway.`,
        ];
  const done = `${many ? "were" : "was"} marked as settled by hand`;
  const noun = many ? "Invoices" : "An invoice";
  return composeMail({
    to,
    subject: subjectNaming(merchantName, (name) => `${noun} of ${name} ${done}`, `${noun} ${done}`),
    paragraphs: [
      ...facts,
      "If you do not expect this, sign in, look at the invoice, and delete the key or check the members of the team.",
    ],
  });
}
