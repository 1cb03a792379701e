// The wire format of invitations (decisions 9); no response holds the token.
import * as z from "zod";
import { emailField, time } from "../../lib/fields.ts";
import { listBody, listQuery } from "../../lib/pagination.ts";
import { memberFields, roleField } from "../teams/contract.ts";
import { INVITATION_STATUSES } from "./invitation.ts";

export const inviteBody = () => z.strictObject({ email: emailField(), role: roleField() });

export const acceptBody = () => z.strictObject({ token: z.string().min(1).max(200) });

export const invitationsQuery = () => z.object(listQuery());

// ---- responses

export const invitationBody = () =>
  z
    .object({
      id: z.string(),
      merchantId: z.string(),
      email: z.string(),
      role: z.enum(["ADMIN", "MEMBER", "VIEWER"]),
      status: z.enum(INVITATION_STATUSES),
      invitedBy: z.string().meta({ description: "The id of the user who last sent the invitation." }),
      createdAt: time(),
      expiresAt: time(),
      acceptedAt: time().nullable(),
      mailedAt: time()
        .nullable()
        .meta({ description: "When its newest mail was sent; null while that mail waits because of a daily limit." }),
    })
    .meta({ title: "Invitation" });

export const invitationListBody = () => listBody(invitationBody()).meta({ title: "InvitationList" });

export const waitingListBody = () =>
  listBody(
    invitationBody()
      .extend({ merchantName: z.string(), inviterEmail: z.string() })
      .meta({ title: "WaitingInvitation" }),
  ).meta({ title: "WaitingInvitationList" });

export const acceptedBody = () =>
  z.object({ ...memberFields(), merchantId: z.string() }).meta({ title: "AcceptedMember" });
