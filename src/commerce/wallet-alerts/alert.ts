// The email to a team when one of its wallets changes, so that an attacker with a session or a key cannot swap an address unnoticed.

import { moreTimes, type NoticeKind } from "../../accounts/notices/notice.ts";
import { stepUpFactorsOf } from "../../accounts/sessions/session.ts";
import type { User } from "../../accounts/users/user.ts";
import type { UserId } from "../../lib/ids.ts";
import { DAY_MS, isoTime } from "../../lib/time.ts";
import { composeMail } from "../../platform/mail/compose.ts";
import type { Mail } from "../../platform/mail/mail.ts";
import { linkless, subjectNaming } from "../../platform/mail/names.ts";
import type { Wallet } from "../wallet-records/wallet.ts";
import { fingerprintOf } from "../wallet-records/wallet-facts.ts";

/** How long the link that disables a wallet is valid. It works once. */
export const LINK_LIFETIME_MS = 7 * DAY_MS;

/** An OWNER or ADMIN of the team. */
export interface Steward {
  readonly userId: UserId;
  readonly email: string;
}

/** A recipient of the email. `token`: for the recipient's own link that disables the wallet; null if the email has no link. */
interface Reader extends Steward {
  readonly token: string | null;
}

/** The author of a change to a wallet, and the recipients of the email. */
export interface Audience {
  readonly merchantName: string;
  /** The author's name in the email. */
  readonly author: string;
  readonly readers: readonly Reader[];
}

export type WalletAction = "wallet.created" | "wallet.updated" | "wallet.deleted" | "wallet.disabled_by_link";

/** One change. `before`: for a registration, the pair's previous wallet. `after`: undefined if the wallet was deleted. */
export interface ReportedChange {
  readonly action: WalletAction;
  readonly before: Wallet | undefined;
  readonly after: Wallet | undefined;
}

/**
 * Whether email is the user's only factor for step-up, so that anyone who can read their mail can also step up as them. If so, the emails about their
 * changes have a link.
 */
export function isMailOnly(user: User): boolean {
  return stepUpFactorsOf(user).every((factor) => factor === "email_code");
}

interface AlertContext {
  readonly publicUrl: string;
  readonly nowMs: number;
  /** Whether a wallet's row is unaltered. Only then does the email show the wallet's address. */
  readonly isIntact: (wallet: Wallet) => boolean;
}

const DONE: Readonly<Record<WalletAction, string>> = {
  "wallet.created": "registered",
  "wallet.updated": "changed",
  "wallet.deleted": "deleted",
  "wallet.disabled_by_link": "disabled with the link in a mail",
};

/** The kind of change whose emails are combined if several follow each other; undefined for a change that is always emailed at once. */
export function noticeKindOf({ action, before, after }: ReportedChange): NoticeKind | undefined {
  if (action !== "wallet.updated" || before === undefined || after === undefined) return undefined;
  return after.isEnabled && !before.isEnabled ? "WALLET_ENABLED" : "WALLET_SETTINGS";
}

/** The email to one recipient. An address is public and shown in full; of an extended key only both ends are shown. */
export function alertMail(change: ReportedChange, audience: Audience, reader: Reader, context: AlertContext): Mail {
  const { before, after, action } = change;
  const wallet = after ?? before;
  if (wallet === undefined) throw new Error("a change of no wallet");
  const shown = (each: Wallet | undefined) => (each === undefined ? "none" : described(each, context));
  const states = [`Before: ${shown(before)}`, `Now: ${shown(after)}`];
  const said = { done: `was ${DONE[action]}`, when: `at ${isoTime(context.nowMs)}`, states, after };
  return walletMail(wallet, said, audience, reader, context);
}

/** The email about further changes to one wallet's settings by the same actor, which followed an email about the first change within minutes. */
export function joinedMail(
  change: { readonly wallet: Wallet; readonly count: number; readonly isEnabling: boolean },
  audience: Audience,
  reader: Reader,
  context: AlertContext,
): Mail {
  const { wallet, count, isEnabling } = change;
  const done = `was ${isEnabling ? "enabled" : "changed"} ${moreTimes(count)}`;
  const said = { done, when: "since the last mail about it", states: [`Now: ${described(wallet, context)}`] };
  return walletMail(wallet, { ...said, after: wallet }, audience, reader, context);
}

function walletMail(
  { id, cryptocurrency, network }: Wallet,
  said: {
    readonly done: string;
    readonly when: string;
    readonly states: readonly string[];
    readonly after: Wallet | undefined;
  },
  { merchantName, author }: Audience,
  { email, token }: Reader,
  { publicUrl }: AlertContext,
): Mail {
  const { done, when, states, after } = said;
  const link =
    token === null || after === undefined
      ? undefined
      : { text: "Disable the wallet", url: `${publicUrl}/wallets/disable#token=${token}` };
  const first = `The wallet for ${cryptocurrency} on ${network} of ${linkless(merchantName)} ${done} by ${author} ${when}.`;
  return composeMail({
    to: email,
    subject: subjectNaming(merchantName, (name) => `A wallet of ${name} ${done}`, `A wallet ${done}`),
    paragraphs: [first, `Wallet: ${id}`, ...states, adviceOn(after, link !== undefined)],
    ...(link && { link }),
  });
}

function adviceOn(after: Wallet | undefined, hasLink: boolean): string {
  if (hasLink) {
    return "If you did not expect this, open the link to disable the wallet, so that no new invoice uses it. The link works once, within 7 days.";
  }
  const remedy = after?.isEnabled ? "disable the wallet" : "check your wallets";
  return `If you did not expect this, sign in, ${remedy}, and check the team's members and API keys.`;
}

function described(wallet: Wallet, { isIntact, nowMs }: AlertContext): string {
  const uses = wallet.isEnabled ? "enabled" : "disabled";
  const from = wallet.usableFromMs > nowMs ? `, in use from ${isoTime(wallet.usableFromMs)}` : "";
  const target = isIntact(wallet) ? targetOf(wallet) : "not shown because its database row was altered";
  return `${target}, fingerprint ${fingerprintOf(wallet)}, ${uses}, ${wallet.requiredConfirmations} ${wallet.requiredConfirmations === 1 ? "confirmation" : "confirmations"}${from}`;
}

function targetOf({ address, xpub }: Wallet): string {
  return address ?? `extended key ${xpub?.slice(0, 8)}...${xpub?.slice(-4)}`;
}
