// The email to operators about a deployment that does not work, or works again. It holds no merchant data.
import { isoTime } from "../../lib/time.ts";
import { composeMail } from "../../platform/mail/compose.ts";
import type { Mail } from "../../platform/mail/mail.ts";
import { type AlertPlan, headlineOf } from "./alert.ts";

interface AlertMailOf extends Pick<AlertPlan, "failing" | "over" | "isFailing"> {
  /** The deployment's origin; empty if it has none. */
  readonly publicUrl: string;
}

export function alertMail(to: string, { failing, over, isFailing, publicUrl }: AlertMailOf): Mail {
  const where = nameOf(publicUrl);
  return composeMail({
    to,
    subject: headlineOf({ failing, over }),
    paragraphs: [
      isFailing ? `${where} does not work as it should.` : `${where} has recovered.`,
      ...failing.map(({ cause, detail, beganAtMs }) => `${cause}, since ${isoTime(beganAtMs)}: ${detail}.`),
      ...over.map(({ cause, beganAtMs, endedAtMs }) => {
        return `${cause} is over. It was noticed at ${isoTime(beganAtMs)} and had ended at ${isoTime(endedAtMs ?? beganAtMs)}.`;
      }),
      ...(isFailing
        ? ["You get another mail after an hour, and one when it is over. What to do: docs/operations/monitoring.md."]
        : []),
    ],
    ...linkTo(publicUrl),
  });
}

/** The email that an operator requests to check that alerts arrive. */
export function testAlertMail(to: string, publicUrl: string): Mail {
  return composeMail({
    to,
    subject: "Test: alerts of the deployment reach you",
    paragraphs: [
      `${nameOf(publicUrl)} was asked by an operator for this test. Nothing is wrong.`,
      "You are notified in the same way when something is wrong, and when it is over. What each alert means: docs/operations/monitoring.md.",
    ],
    ...linkTo(publicUrl),
  });
}

function nameOf(publicUrl: string): string {
  return publicUrl === "" ? "The deployment" : `The deployment at ${new URL(publicUrl).host}`;
}

function linkTo(publicUrl: string) {
  return publicUrl === "" ? {} : { link: { text: "The state of the deployment", url: `${publicUrl}/healthz` } };
}
