// The wire format of a test of the alerts, and of an operator's report about it.
import * as z from "zod";
import { OUTCOMES } from "./alert-proof.ts";

export const proofRequestBody = () =>
  z.strictObject({
    outcome: z.enum(OUTCOMES).meta({
      description: "ARRIVED: a test alert was received. DISMISSED: do not warn that no alert was ever confirmed.",
    }),
  });

export const testAlertBody = () =>
  z
    .object({
      isMailConfigured: z
        .boolean()
        .meta({ description: "False if no alert is ever mailed: `MAIL_PROVIDER` is not set." }),
      mails: z.array(
        z.object({
          email: z.string(),
          isAccepted: z
            .boolean()
            .meta({ description: "Whether the mail provider accepted it. Check the mailbox as well." }),
          problem: z.string().nullable().meta({ description: "Why the mail provider did not accept it." }),
        }),
      ),
      webhook: z
        .object({
          host: z.string().nullable().meta({ description: "The receiver's host; null if a setting is wrong." }),
          isAccepted: z.boolean().meta({ description: "Whether the receiver answered with a status from 200 to 299." }),
          statusCode: z
            .int()
            .nullable()
            .meta({ description: "The status of the receiver's answer; null if there was none." }),
          problem: z.string().nullable().meta({ description: "Why the receiver did not accept it." }),
        })
        .nullable()
        .meta({ description: "Null if no alert is ever POSTed: `ALERT_WEBHOOK_URL` is not set." }),
    })
    .meta({ title: "TestAlert" });
