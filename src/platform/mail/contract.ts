// The wire format of the development mailbox.
import * as z from "zod";

export const mailsQuery = () =>
  z.object({
    to: z
      .string()
      .min(1)
      .max(320)
      .optional()
      .meta({ description: "Only mails to this address, in upper or lower case." }),
  });

// ---- responses

export const mailListBody = () =>
  z
    .array(
      z.object({
        to: z.string(),
        subject: z.string(),
        text: z.string(),
        html: z.string(),
        at: z.string().meta({ format: "date-time" }),
      }),
    )
    .meta({ title: "MailList" });
