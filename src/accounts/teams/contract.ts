// The wire format of teams: their members and their security settings (decisions 9).
import * as z from "zod";
import { time } from "../../lib/fields.ts";
import { listBody, listQuery } from "../../lib/pagination.ts";
import { ROLES } from "../roles/roles.ts";
import { MISSING_FACTORS } from "../security-policies/security-policy.ts";

export const roleField = () => z.enum(ROLES);

export const membersQuery = () => z.object(listQuery());

export const changeRoleBody = () => z.strictObject({ role: roleField() });

const policyFields = () => ({
  enforceTfa: z.boolean().meta({ description: "Members must have TOTP or mailed codes switched on." }),
  enforcePasskey: z.boolean().meta({ description: "Members must have at least one registered passkey." }),
  enforceGoogleLogin: z.boolean().meta({ description: "Members must have a linked Google account." }),
  enforceGithubLogin: z.boolean().meta({ description: "Members must have a linked GitHub account." }),
  enforceEmailVerified: z.boolean().meta({ description: "Members must have a verified email address." }),
});

export const updateSecurityBody = () => z.strictObject(policyFields()).partial();

// ---- responses

export const memberFields = () => ({
  id: z.string(),
  userId: z.string(),
  email: z.string(),
  name: z.string().nullable(),
  role: z.enum(ROLES),
  joinedAt: time(),
});

export const memberBody = () => z.object(memberFields()).meta({ title: "Member" });

const listedMemberBody = () =>
  z
    .object({
      ...memberFields(),
      missing: z.array(z.enum(MISSING_FACTORS)).meta({
        description:
          "Security settings that the team requires and the member does not have. Until they are added, the member cannot access the merchant.",
      }),
    })
    .meta({ title: "ListedMember" });

export const memberListBody = () => listBody(listedMemberBody()).meta({ title: "MemberList" });

export const transferredBody = () =>
  z.object({ owner: memberBody(), previousOwner: memberBody() }).meta({ title: "TransferredOwnership" });

export const securityBody = () => z.object(policyFields()).meta({ title: "TeamSecurity" });
