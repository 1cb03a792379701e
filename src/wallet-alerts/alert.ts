// What a team hears when one of its wallets changes (security.md 1 "Step-up", 4 "payout address swapped"): whoever took over a session or a
// key cannot swap an address in silence.
import type { UserId } from "../lib/ids.ts";
import { DAY_MS, isoTime } from "../lib/time.ts";
import { composeMail } from "../mail/compose.ts";
import type { Mail } from "../mail/mail.ts";
import { stepUpFactorsOf } from "../sessions/session.ts";
import type { Person } from "../users/person.ts";
import type { Wallet } from "../wallets/wallet.ts";
import { fingerprintOf } from "../wallets/wallet-facts.ts";

/** How long the link that disables a wallet works, once. */
export const LINK_LIFETIME_MS = 7 * DAY_MS;

/** An OWNER or ADMIN of the team. */
export interface Steward {
  readonly userId: UserId;
  readonly email: string;
}

/** Whoever is told of a change. `token`: of their own link that disables the wallet; null where they get none. */
export interface Reader extends Steward {
  readonly token: string | null;
}

/** Who changes a wallet, and who is told. */
export interface Audience {
  readonly merchantName: string;
  /** As the mail names them. */
  readonly author: string;
  readonly readers: readonly Reader[];
}

export type WalletAction = "wallet.created" | "wallet.updated" | "wallet.deleted" | "wallet.disabled_by_link";

/** One change. `before` of a registration: the wallet that the pair had last. `after`: undefined once it is deleted. */
export interface WalletNews {
  readonly action: WalletAction;
  readonly before: Wallet | undefined;
  readonly after: Wallet | undefined;
}

/** Whether whoever can read this person's mail can also step up as them: then changes carry a link against them. */
export function isMailOnly(person: Person): boolean {
  return stepUpFactorsOf(person).every((factor) => factor === "email_code");
}

export interface AlertContext {
  readonly publicUrl: string;
  readonly nowMs: number;
  /** Whether a wallet's row is as we wrote it: only then is its address named. */
  readonly isIntact: (wallet: Wallet) => boolean;
}

const DONE: Readonly<Record<WalletAction, string>> = {
  "wallet.created": "registered",
  "wallet.updated": "changed",
  "wallet.deleted": "deleted",
  "wallet.disabled_by_link": "disabled by a link from a mail",
};

/** The mail of one reader. Addresses are public; of an extended key, which shows every address, only the ends. */
export function alertMail(news: WalletNews, audience: Audience, reader: Reader, context: AlertContext): Mail {
  const { before, after, action } = news;
  const wallet = after ?? before;
  if (wallet === undefined) throw new Error("a change of no wallet");
  const { merchantName, author } = audience;
  const pair = `${wallet.cryptocurrency} on ${wallet.network}`;
  const has = reader.token !== null && after !== undefined;
  return composeMail({
    to: reader.email,
    subject: `A wallet of ${merchantName} was ${DONE[action]}`,
    paragraphs: [
      `The wallet for ${pair} of ${merchantName} was ${DONE[action]} by ${author} at ${isoTime(context.nowMs)}.`,
      `Wallet: ${wallet.id}`,
      `Before: ${before === undefined ? "none" : described(before, context)}`,
      `Now: ${after === undefined ? "none" : described(after, context)}`,
      adviceOn(after, has),
    ],
    ...(has
      ? { link: { text: "Disable the wallet", url: `${context.publicUrl}/wallets/disable#token=${reader.token}` } }
      : {}),
  });
}

function adviceOn(after: Wallet | undefined, hasLink: boolean): string {
  if (hasLink) {
    return "If you do not expect this, open the link: the wallet is disabled, and no new invoice uses it. It works once and for 7 days.";
  }
  const remedy = after?.isEnabled ? "disable the wallet" : "look at the wallets";
  return `If you do not expect this, sign in, ${remedy} and check who belongs to the team and which keys there are.`;
}

function described(wallet: Wallet, { isIntact, nowMs }: AlertContext): string {
  const uses = wallet.isEnabled ? "enabled" : "disabled";
  const from = wallet.usableFromMs > nowMs ? `, in use from ${isoTime(wallet.usableFromMs)}` : "";
  const target = isIntact(wallet) ? targetOf(wallet) : "not shown, its row was altered";
  return `${target}, fingerprint ${fingerprintOf(wallet)}, ${uses}, ${wallet.requiredConfirmations} ${wallet.requiredConfirmations === 1 ? "confirmation" : "confirmations"}${from}`;
}

function targetOf({ address, xpub }: Wallet): string {
  return address ?? `extended key ${xpub?.slice(0, 8)}...${xpub?.slice(-4)}`;
}
