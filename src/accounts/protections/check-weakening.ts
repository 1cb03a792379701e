// Checks a change before its batch: weakening a protection needs the caller's permission, is described in the audit entry, and is emailed to the team
// after the commit.
import { err, ok, type Result } from "../../lib/result.ts";
import { isoTime } from "../../lib/time.ts";
import type { AuditFacts } from "../../platform/audit/entry.ts";
import type { Failure } from "../../platform/failures.ts";
import { composeMail } from "../../platform/mail/compose.ts";
import type { Mailer } from "../../platform/mail/mail.ts";
import { linkless, subjectNaming } from "../../platform/mail/names.ts";
import { postAll } from "../../platform/mail/post-all.ts";
import type { GuardedOperation } from "./weakening.ts";
import { weakenedBy } from "./weakening.ts";

interface MailDependencies {
  readonly mailer: Mailer;
  readonly nowMs: number;
}

/** Who makes a change to a protected resource, and who is notified of it. */
interface Watchers {
  /** The protected resource, as named in emails. */
  readonly place: string;
  /** The caller, as named in emails. */
  readonly author: string;
  /** Email addresses of every OWNER and ADMIN, or of every operator. */
  readonly readers: readonly string[];
}

export interface Watch extends Watchers {
  /** Why this caller may not weaken a protection; undefined if they may. */
  readonly refusal: Failure | undefined;
}

interface Facts {
  readonly before: AuditFacts;
  readonly after: AuditFacts;
}

interface Weighed {
  /** For the audit entry. */
  readonly facts: Facts;
  /** Runs after the change commits: emails the readers. */
  readonly afterwards?: (() => Promise<void>) | undefined;
}

export function checkWeakening(
  deps: MailDependencies,
  watch: Watch,
  operation: GuardedOperation,
  facts: Facts,
): Result<Weighed, Failure> {
  const weakens = weakenedBy(operation, facts);
  if (weakens.length === 0) return ok({ facts });
  if (watch.refusal !== undefined) return err(watch.refusal);
  const { before, after } = facts;
  return ok({ facts: { before, after: { ...after, weakens } }, afterwards: () => mailWeakening(deps, watch, weakens) });
}

/** Losing an email is harmless, because the audit log records the change too. */
export function mailWeakening(deps: MailDependencies, watch: Watchers, lines: readonly string[]): Promise<void> {
  return mailChange(deps, watch, { thing: "A protection", done: "weakened" }, lines);
}

/** Emails the readers that `thing` of `place` was changed; `lines` describe the change. */
export function mailChange(
  { mailer, nowMs }: MailDependencies,
  { place, author, readers }: Watchers,
  { thing, done }: { readonly thing: string; readonly done: string },
  lines: readonly string[],
): Promise<void> {
  const first = `${author} ${done} ${thing.toLowerCase()} of ${linkless(place)} at ${isoTime(nowMs)}.`;
  const last = "If you do not expect this change, sign in and check the members of the team.";
  const subject = subjectNaming(place, (name) => `${thing} of ${name} was ${done}`, `${thing} was ${done}`);
  const paragraphs = [first, ...lines, last];
  return postAll(mailer, thing, readers, (to) => composeMail({ to, subject, paragraphs }));
}
