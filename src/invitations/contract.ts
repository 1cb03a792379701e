// The wire of invitations (decisions 9); of the token an answer never says anything.
import * as z from "zod";
import { time } from "../lib/fields.ts";
import { listQuery, paginationBody } from "../lib/pagination.ts";
import { memberFields, roleField } from "../teams/contract.ts";
import { INVITATION_STATUSES } from "./invitation.ts";

export const inviteBody = z.strictObject({ email: z.email().max(320), role: roleField });

export const acceptBody = z.strictObject({ token: z.string().min(1).max(200) });

export const invitationsQuery = z.object(listQuery);

// ---- answers: made when the documents ask

export const invitationBody = () =>
  z
    .object({
      id: z.string(),
      merchantId: z.string(),
      email: z.string(),
      role: z.enum(["ADMIN", "MEMBER", "VIEWER"]),
      status: z.enum(INVITATION_STATUSES),
      invitedBy: z.string().meta({ description: "The user who sent it last." }),
      createdAt: time(),
      expiresAt: time(),
      acceptedAt: time().nullable(),
    })
    .meta({ title: "Invitation" });

const listOf = (item: z.ZodType) =>
  z.object({ data: z.array(item), nextCursor: z.string().nullable(), pagination: paginationBody().optional() });

export const invitationListBody = () => listOf(invitationBody()).meta({ title: "InvitationList" });

export const waitingListBody = () =>
  listOf(
    invitationBody()
      .extend({ merchantName: z.string(), inviterEmail: z.string() })
      .meta({ title: "WaitingInvitation" }),
  ).meta({ title: "WaitingInvitationList" });

export const acceptedBody = () =>
  z.object({ ...memberFields(), merchantId: z.string() }).meta({ title: "AcceptedMember" });
