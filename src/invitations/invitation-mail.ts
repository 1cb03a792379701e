import { composeMail } from "../mail/compose.ts";
import type { Mail } from "../mail/mail.ts";
import type { Role } from "../teams/roles.ts";

export interface InvitationToMail {
  readonly email: string;
  readonly role: Role;
  readonly merchantName: string;
  /** Name or address of whoever invites. */
  readonly inviter: string;
}

/** The token stands in the fragment: no server and no log on the way sees it (security.md 4). */
export function invitationMail(of: InvitationToMail, token: string, publicUrl: string): Mail {
  const { email, role, merchantName, inviter } = of;
  return composeMail({
    to: email,
    subject: `Invitation to the team of ${merchantName}`,
    paragraphs: [
      `${inviter} invites you to the team of ${merchantName} as ${role}.`,
      `Sign in as ${email} to accept. The link works once and for 7 days.`,
      "If you do not expect this, you need not do anything.",
    ],
    link: { text: "Accept the invitation", url: `${publicUrl}/invitations#token=${token}` },
  });
}
