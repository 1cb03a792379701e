import { composeMail } from "../../platform/mail/compose.ts";
import type { Mail } from "../../platform/mail/mail.ts";
import { linkless, subjectNaming } from "../../platform/mail/names.ts";
import type { Role } from "../roles/roles.ts";

interface InvitationToMail {
  readonly email: string;
  readonly role: Role;
  readonly merchantName: string;
  /** The inviter's name in the email. If it is null, the email shows their verified address. */
  readonly inviterName: string | null;
  readonly inviterEmail: string;
}

/** The token is in the fragment, so that no server or log on the way receives it. Links in names are removed, because strangers get this email. */
export function invitationMail(of: InvitationToMail, token: string, publicUrl: string): Mail {
  const { email, role, inviterName, inviterEmail } = of;
  const merchantName = linkless(of.merchantName);
  const inviter = inviterName === null ? inviterEmail : linkless(inviterName);
  return composeMail({
    to: email,
    subject: subjectNaming(of.merchantName, (name) => `Invitation to the team of ${name}`, "Invitation to a team"),
    paragraphs: [
      `${inviter} invites you to the team of ${merchantName} as ${role}.`,
      `Sign in as ${email} to accept. The link works once and for 7 days.`,
      "If you do not expect this invitation, ignore this mail.",
    ],
    link: { text: "Accept the invitation", url: `${publicUrl}/invitations#token=${token}` },
  });
}
