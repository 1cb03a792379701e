// Emails a new code to an address, with or without an account. The networks from which the account has signed in are read for every address, in the
// same batch as the counts. They affect only callers from these networks, so neither the response nor its timing reveals an account to anyone else.
// Only an HMAC of the code, with the pepper, is stored.

import { countedMailboxOf, emailKeyOf } from "../../lib/email.ts";
import { callersOf, networkOf } from "../../lib/ip-network.ts";
import { type Keyring, macText } from "../../lib/keyring.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { SECOND_MS } from "../../lib/time.ts";
import type { CommitDependencies } from "../../platform/changes/change.ts";
import { batch } from "../../platform/db/batch.ts";
import { commitBatch } from "../../platform/db/commit-batch.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Failure } from "../../platform/failures.ts";
import { composeMail } from "../../platform/mail/compose.ts";
import type { Mail, Mailer } from "../../platform/mail/mail.ts";
import { CODE_LIFETIME_MS, type CodePurpose, codeMacText, codeOf, type PendingIdentity } from "./email-code.ts";
import { knownBrowserOf } from "./known-browser.ts";
import { addressWaitMs, knownBrowserWaitMs, mailWaitMs } from "./mail-limit.ts";
import {
  assertAddressAllowed,
  assertKnownAllowed,
  assertMailAllowed,
  type CountedCaller,
  type EmailCodeRow,
  endEmailCodes,
  insertEmailCode,
  selectCodesForKnown,
  selectCodesToAddress,
  selectEmailCode,
  selectSentCodes,
  selectSignInAddresses,
} from "./store.ts";

export interface SendDependencies extends CommitDependencies {
  /** Whether any address can create an account; otherwise only an invited one can. */
  readonly isSignUpOpen: boolean;
  readonly pepper: Keyring;
  readonly mailer: Mailer;
  /** Whether emails for this caller are counted. They are not on the developer's own machine. */
  readonly isCounted: (ip: string | null) => boolean;
}

export interface CodeToSend {
  readonly purpose: CodePurpose;
  /** As the user typed it. */
  readonly email: string;
  /** SHA-256 of the browser's nonce for SIGN_IN, else the session's id. */
  readonly boundTo: string;
  /** What the browser's older code is bound to, if that differs from `boundTo`. The new code replaces the older one. */
  readonly replacedBoundTo?: string | undefined;
  /** The caller's IP address; null if no proxy reports it. Then the only limit is the daily limit on sign-in codes to the address. */
  readonly ip: string | null;
  /** The cookie of a browser that has signed in to the address before. This browser has separate limits, which others cannot use up. */
  readonly knownBrowser?: string | undefined;
  /** The identity to link when this code is used. */
  readonly identity?: PendingIdentity;
}

/**
 * Emails a code and ends the older code of the same browser or session. Fails with RATE_LIMITED, whether or not the address has an account. The email
 * may still fail after the response; then the user must request another code.
 */
export async function sendCode(
  deps: SendDependencies,
  of: CodeToSend,
): Promise<Result<{ readonly expiresAtMs: number }, Failure>> {
  const { db, nowMs } = deps;
  const emailKey = emailKeyOf(of.email);
  const mailbox = countedMailboxOf(of.email);
  const limited = { asker: askerOf(deps, of, emailKey), purpose: of.purpose, emailKey, mailbox };
  const room = await readRoom(deps, limited);
  if (!room.ok) return room;
  const { isSeen } = room.value;
  const id = deps.newOperationId();
  const code = newCode();
  const { purpose, boundTo, replacedBoundTo, email, identity } = of;
  const expiresAtMs = nowMs + CODE_LIFETIME_MS;
  const row = {
    id,
    purpose,
    emailKey,
    mailbox,
    email,
    boundTo,
    expiresAtMs,
    ...countedAs(limited.asker, isSeen),
    ...macText(deps.pepper, codeMacText({ id, purpose, emailKey, boundTo, code })),
    identity: identity === undefined ? null : JSON.stringify(identity),
    tries: 0,
    createdAtMs: nowMs,
    consumedAtMs: null,
  };
  const places = replacedBoundTo === undefined ? [boundTo] : [boundTo, replacedBoundTo];
  const committed = await commitBatch(deps, () => selectEmailCode(db, id), [
    ...assertAllowed(deps, limited, isSeen),
    endEmailCodes(db, { boundTo: places, purpose, emailKey, nowMs }),
    insertEmailCode(db, row),
  ]);
  // Concurrent requests have used up the limit; the refusal says how long to wait.
  if (committed.kind === "conflict") {
    const left = await readRoom(deps, limited);
    return left.ok ? err({ code: "CONTENTION" }) : left;
  }
  if (committed.kind === "unknown") return err({ code: "STORAGE_UNAVAILABLE" });
  await deps.mailer.post(codeMail(of, code));
  return ok({ expiresAtMs });
}

/** How a code is counted: not at all, by the proof of a known browser, or by the caller's IP networks. */
type Asker =
  | { readonly kind: "UNCOUNTED" }
  | { readonly kind: "KNOWN"; readonly browser: string }
  | { readonly kind: "STRANGER"; readonly callers: readonly CountedCaller[] };

interface Limited {
  readonly asker: Asker;
  readonly purpose: CodePurpose;
  readonly emailKey: string;
  readonly mailbox: string;
}

/** `isSeen`: whether the account of the address has signed in from the caller's network. Only read for a STRANGER; otherwise false. */
interface Room {
  readonly waitMs: number;
  readonly isSeen: boolean;
}

function askerOf(deps: SendDependencies, { ip, knownBrowser: cookie }: CodeToSend, emailKey: string): Asker {
  if (!deps.isCounted(ip)) return { kind: "UNCOUNTED" };
  const browser = knownBrowserOf(deps.pepper, { cookie, emailKey, nowMs: deps.nowMs });
  if (browser !== undefined) return { kind: "KNOWN", browser };
  const networks = ip === null ? [] : callersOf(ip);
  return { kind: "STRANGER", callers: networks.map((each, n) => ({ ...each, kind: n === 0 ? "ip" : "site" })) };
}

function countedAs(asker: Asker, isSeen: boolean): Pick<EmailCodeRow, "ip" | "site" | "isCounted" | "knownBrowser"> {
  const networkOf = (kind: CountedCaller["kind"]) =>
    asker.kind === "STRANGER" ? (asker.callers.find((caller) => caller.kind === kind)?.network ?? null) : null;
  return {
    ip: networkOf("ip"),
    site: networkOf("site"),
    isCounted: asker.kind === "STRANGER" && !isSeen,
    knownBrowser: asker.kind === "KNOWN" ? asker.browser : null,
  };
}

/** Fails with RATE_LIMITED if the limits allow no further code now. */
async function readRoom(deps: SendDependencies, of: Limited): Promise<Result<Room, Failure>> {
  const room = await readWithRetry(deps.sleep, async () => roomOf(deps, of));
  if (!room.ok || room.value.waitMs === 0) return room;
  return err({ code: "RATE_LIMITED", retryAfterSeconds: Math.ceil(room.value.waitMs / SECOND_MS) });
}

async function roomOf({ db, nowMs }: SendDependencies, { asker, purpose, ...of }: Limited): Promise<Room> {
  const { emailKey, mailbox } = of;
  switch (asker.kind) {
    case "UNCOUNTED":
      return { waitMs: 0, isSeen: false };
    case "KNOWN": {
      const sent = await selectCodesForKnown(db, { emailKey, nowMs });
      return { waitMs: knownBrowserWaitMs(sent, asker.browser, nowMs), isSeen: false };
    }
    case "STRANGER": {
      const [toAddress, signIns, ...sent] = await batch(db, [
        selectCodesToAddress(db, { mailbox, nowMs }),
        selectSignInAddresses(db, emailKey),
        ...asker.callers.map((caller) => selectSentCodes(db, caller, { purpose, nowMs })),
      ]);
      const isSeen = signIns.some(({ ip }) => ip !== null && networkOf(ip) === asker.callers[0]?.network);
      const waits = asker.callers.map(({ times }, n) => mailWaitMs(sent[n] ?? [], { purpose, mailbox, times }, nowMs));
      const isLimitedByDay = purpose === "SIGN_IN" && !isSeen;
      return { waitMs: Math.max(isLimitedByDay ? addressWaitMs(toAddress, nowMs) : 0, ...waits), isSeen };
    }
  }
}

/** Repeats the check of `readRoom` within the batch. */
function assertAllowed({ db, nowMs }: SendDependencies, of: Limited, isSeen: boolean) {
  const { asker, purpose, emailKey, mailbox } = of;
  switch (asker.kind) {
    case "UNCOUNTED":
      return [];
    case "KNOWN":
      return [assertKnownAllowed(db, { browser: asker.browser, emailKey, nowMs })];
    case "STRANGER":
      return [
        ...asker.callers.map((caller) => assertMailAllowed(db, caller, { purpose, mailbox, nowMs })),
        ...(purpose === "SIGN_IN" && !isSeen ? [assertAddressAllowed(db, { mailbox, nowMs })] : []),
      ];
  }
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
  SIGN_IN: "Use this code to sign in to Edgetill with this email address:",
  SECOND_FACTOR: "Use this code to complete your sign-in to Edgetill:",
  STEP_UP: "Use this code to confirm a protected change in Edgetill:",
};

const PROVIDER_NAMES: Readonly<Record<PendingIdentity["provider"], string>> = { google: "Google", github: "GitHub" };

function codeMail({ email: to, purpose, identity }: CodeToSend, code: string): Mail {
  const paragraphs = [
    OPENINGS[purpose],
    ...(identity === undefined
      ? []
      : [
          `If you use it, the ${PROVIDER_NAMES[identity.provider]} account in that browser is also linked to your Edgetill account, unless that account has a passkey or an authenticator app.`,
        ]),
    "The code works once, within 10 minutes, and only in the browser that requested it. Do not give it to anyone: we never ask for it.",
    "If you did not request this code, ignore this mail: nothing happens without the code.",
  ];
  return composeMail({ to, subject: SUBJECTS[purpose], paragraphs, code });
}
