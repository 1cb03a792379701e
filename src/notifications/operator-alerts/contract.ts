// The wire format of a test of alerts.
import * as z from "zod";

export const testAlertBody = () =>
  z
    .object({
      isMailConfigured: z
        .boolean()
        .meta({ description: "False if no alert is ever sent: `MAIL_PROVIDER` is not set." }),
      mails: z.array(
        z.object({
          email: z.string(),
          isAccepted: z
            .boolean()
            .meta({ description: "Whether the mail provider took it. Look into the mailbox, too." }),
          problem: z.string().nullable().meta({ description: "Why it did not." }),
        }),
      ),
    })
    .meta({ title: "TestAlert" });
