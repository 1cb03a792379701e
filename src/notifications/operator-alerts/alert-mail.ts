// The email to operators about a deployment that does not work, or works again. It holds no merchant data.
import { isoTime } from "../../lib/time.ts";
import { composeMail } from "../../platform/mail/compose.ts";
import type { Mail } from "../../platform/mail/mail.ts";
import type { Alert, AlertPlan } from "./alert.ts";

interface AlertMailOf extends Pick<AlertPlan, "failing" | "over"> {
  /** The deployment's origin; empty if it has none. */
  readonly publicUrl: string;
}

export function alertMail(to: string, { failing, over, publicUrl }: AlertMailOf): Mail {
  const where = nameOf(publicUrl);
  const isWell = failing.length === 0;
  return composeMail({
    to,
    subject: isWell ? `Over: ${causesOf(over)}` : `Needs an operator: ${causesOf(failing)}`,
    paragraphs: [
      isWell ? `${where} has recovered.` : `${where} does not work as it should.`,
      ...failing.map(({ cause, detail, beganAtMs }) => `${cause}, since ${isoTime(beganAtMs)}: ${detail}.`),
      ...over.map(({ cause, beganAtMs, endedAtMs }) => {
        return `${cause} is over. It was noticed at ${isoTime(beganAtMs)} and had ended at ${isoTime(endedAtMs ?? beganAtMs)}.`;
      }),
      ...(isWell
        ? []
        : ["You get another mail after an hour, and one when it is over. What to do: docs/operations/monitoring.md."]),
    ],
    ...linkTo(publicUrl),
  });
}

/** What an operator asks for to see that alerts arrive. */
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

function causesOf(alerts: readonly Alert[]): string {
  return alerts.map(({ cause }) => cause).join(", ");
}
