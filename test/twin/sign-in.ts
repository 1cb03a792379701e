// Users of a deployment, who sign in with emailed codes.
import { setTimeout as sleep } from "node:timers/promises";
import type { Answered, Asked, Twin } from "./deployment.ts";

export type Headers = Readonly<Record<string, string>>;
/** Retries temporary refusals; throws if they persist. */
type Ask = (path: string, asked: Asked) => Promise<Answered>;
type SignInTarget = Pick<Twin, "origin" | "world">;

/** Emails are sent after the response, and are lost if the machine is replaced before that. */
const MAIL_WITHIN_MS = 120_000;

/** Signs in with an emailed code; returns the headers of the session, which counts as stepped up. */
export async function signIn(ask: Ask, { origin, world }: SignInTarget, email: string): Promise<Headers> {
  const sent = world.mails.length;
  const started = await ask("/api/v1/auth/email/start", { method: "POST", headers: { origin }, body: { email } });
  const code = await mailed(world, { email, since: sent, pattern: /\b(\d{8})\b/ });
  const verified = await ask("/api/v1/auth/email/verify", {
    method: "POST",
    headers: { origin, cookie: cookiesOf(started) },
    body: { email, code },
  });
  return { origin, cookie: cookiesOf(verified) };
}

export const INVITATION = /\/invitations#token=([\w-]+)/;

/** What the pattern captures in the newest email to the address. The first `since` emails are ignored. */
export async function mailed(
  { mails }: Twin["world"],
  { email, since, pattern }: { readonly email: string; readonly since: number; readonly pattern: RegExp },
): Promise<string> {
  const lateMs = Date.now() + MAIL_WITHIN_MS;
  while (Date.now() < lateMs) {
    const found = mails.slice(since).flatMap(({ to, text }) => (to === email ? (pattern.exec(text)?.[1] ?? []) : []));
    const newest = found.at(-1);
    if (newest !== undefined) return newest;
    await sleep(50);
  }
  throw new Error(`no mail to ${email} came`);
}

const cookiesOf = ({ cookies }: Answered) =>
  cookies
    .map((cookie) => cookie.split(";")[0] ?? "")
    .filter((pair) => !pair.endsWith("="))
    .join("; ");
