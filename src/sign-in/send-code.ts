// Mails a fresh code to an address, whether anybody has an account there or not: nothing here looks an account up, so nothing can be told
// by the answer or its time. What is stored is an HMAC under the pepper (security.md 1).

import type { Db } from "../db/client.ts";
import { commitBatch } from "../db/commit-batch.ts";
import { readWithRetry } from "../db/retry.ts";
import type { Failure } from "../failures.ts";
import { emailKeyOf } from "../lib/email.ts";
import { networkOf } from "../lib/ip-network.ts";
import { type Keyring, macText } from "../lib/keyring.ts";
import { err, ok, type Result } from "../lib/result.ts";
import type { Sleep } from "../lib/sleep.ts";
import { SECOND_MS } from "../lib/time.ts";
import { composeMail } from "../mail/compose.ts";
import type { Mail, Mailer } from "../mail/mail.ts";
import { CODE_LIFETIME_MS, type CodePurpose, codeMacText, codeOf, type PendingIdentity } from "./email-code.ts";
import { mailWaitMs } from "./mail-limit.ts";
import { assertMailAllowed, endEmailCodes, insertEmailCode, selectEmailCode, selectSentCodes } from "./store.ts";

export interface SendEffects {
  readonly db: Db;
  readonly nowMs: number;
  readonly sleep: Sleep;
  readonly pepper: Keyring;
  readonly mailer: Mailer;
  readonly newOperationId: () => string;
  /** Whether mails for this caller are counted: not on the developer's own machine. */
  readonly isCounted: (ip: string) => boolean;
}

export interface CodeToSend {
  readonly purpose: CodePurpose;
  /** As it was written. */
  readonly email: string;
  /** SHA-256 of the browser's nonce for SIGN_IN, else the session's id. */
  readonly boundTo: string;
  /** To what the same browser's older code is bound, where that is something else: the new one replaces it. */
  readonly replacedBoundTo?: string | undefined;
  /** Of the caller; null where nothing in front tells, and then nothing is capped (security.md 3). */
  readonly ip: string | null;
  /** Linked at the sign-in that this code proves the mailbox for. */
  readonly identity?: PendingIdentity;
}

/**
 * Refuses with RATE_LIMITED, for any address alike. An older code of the same place ends. Where the mail goes out behind the answer, it may
 * still fail: the person asks again.
 */
export async function sendCode(
  fx: SendEffects,
  of: CodeToSend,
): Promise<Result<{ readonly expiresAtMs: number }, Failure>> {
  const { db, nowMs } = fx;
  const emailKey = emailKeyOf(of.email);
  const ip = of.ip !== null && fx.isCounted(of.ip) ? networkOf(of.ip) : null;
  const limited = { ip, purpose: of.purpose, emailKey };
  const refused = await limitRefusal(fx, limited);
  if (refused !== undefined) return err(refused);
  const id = fx.newOperationId();
  const code = newCode();
  const { purpose, boundTo, replacedBoundTo, email, identity } = of;
  const expiresAtMs = nowMs + CODE_LIFETIME_MS;
  const row = {
    ...{ id, purpose, emailKey, email, boundTo, ip, expiresAtMs },
    ...macText(fx.pepper, codeMacText({ id, purpose, emailKey, boundTo, code })),
    identity: identity === undefined ? null : JSON.stringify(identity),
    tries: 0,
    createdAtMs: nowMs,
    consumedAtMs: null,
  };
  const places = replacedBoundTo === undefined ? [boundTo] : [boundTo, replacedBoundTo];
  const committed = await commitBatch(fx, () => isStored(fx, id), [
    ...(ip === null ? [] : [assertMailAllowed(db, { ip, purpose, emailKey, nowMs })]),
    endEmailCodes(db, { boundTo: places, purpose, emailKey, nowMs }),
    insertEmailCode(db, row),
  ]);
  // Others of the same caller came first: what they left is told by the same words.
  if (committed.kind === "conflict") return err((await limitRefusal(fx, limited)) ?? { code: "CONTENTION" });
  if (committed.kind === "unknown") return err({ code: "STORAGE_UNAVAILABLE" });
  await fx.mailer.post(codeMail(of, code));
  return ok({ expiresAtMs });
}

async function limitRefusal(
  fx: SendEffects,
  of: { readonly ip: string | null; readonly purpose: CodePurpose; readonly emailKey: string },
): Promise<Failure | undefined> {
  const { ip, purpose } = of;
  if (ip === null) return undefined;
  const sent = await readWithRetry(fx.sleep, async () => selectSentCodes(fx.db, { ip, purpose, nowMs: fx.nowMs }));
  if (!sent.ok) return sent.error;
  const waitMs = mailWaitMs(sent.value, of, fx.nowMs);
  return waitMs === 0 ? undefined : { code: "RATE_LIMITED", retryAfterSeconds: Math.ceil(waitMs / SECOND_MS) };
}

async function isStored(fx: SendEffects, id: string): Promise<boolean> {
  const rows = await readWithRetry(fx.sleep, async () => selectEmailCode(fx.db, id));
  return rows.ok && rows.value.length === 1;
}

function newCode(): string {
  for (;;) {
    const [random = 0] = crypto.getRandomValues(new Uint32Array(1));
    const code = codeOf(random);
    if (code !== undefined) return code;
  }
}

const SUBJECTS: Readonly<Record<CodePurpose, string>> = {
  SIGN_IN: "Your sign-in code",
  SECOND_FACTOR: "Your second factor to sign in",
  STEP_UP: "Your code to confirm a change",
};
const OPENINGS: Readonly<Record<CodePurpose, string>> = {
  SIGN_IN: "Somebody, hopefully you, is signing in to Edgetill with this address. The code is:",
  SECOND_FACTOR: "You are signing in to Edgetill. The code that completes it is:",
  STEP_UP: "You are about to change something that Edgetill protects. The code that confirms it is you:",
};

const PROVIDER_NAMES: Readonly<Record<PendingIdentity["provider"], string>> = { google: "Google", github: "GitHub" };

function codeMail({ email: to, purpose, identity }: CodeToSend, code: string): Mail {
  const paragraphs = [
    OPENINGS[purpose],
    ...(identity === undefined
      ? []
      : [
          `Giving it also links the ${PROVIDER_NAMES[identity.provider]} account of that browser to yours here, unless yours has a passkey or an authenticator app.`,
        ]),
    "It works once, within 10 minutes, and only in the browser that asked for it. Never tell it to anybody: we do not ask for it.",
    "If it was not you, do nothing: without the code nothing happens.",
  ];
  return composeMail({ to, subject: SUBJECTS[purpose], paragraphs, code });
}
