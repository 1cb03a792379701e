// The wire of teams: members and what a team demands of them (decisions 9).
import * as z from "zod";
import { time } from "../../lib/fields.ts";
import { listBody, listQuery } from "../../lib/pagination.ts";
import { ROLES } from "./roles.ts";

export const roleField = () => z.enum(ROLES);

export const membersQuery = () => z.object(listQuery());

export const changeRoleBody = () => z.strictObject({ role: roleField() });

const policyFields = () => ({
  enforceTfa: z.boolean().meta({ description: "TOTP or mailed codes must be switched on." }),
  enforcePasskey: z.boolean().meta({ description: "At least one passkey must be registered." }),
  enforceGoogleLogin: z.boolean().meta({ description: "A Google account must be linked." }),
  enforceGithubLogin: z.boolean().meta({ description: "A GitHub account must be linked." }),
  enforceEmailVerified: z.boolean().meta({ description: "The email address must be verified." }),
});

export const updateSecurityBody = () => z.strictObject(policyFields()).partial();

// ---- answers

export const memberFields = () => ({
  id: z.string(),
  userId: z.string(),
  email: z.string(),
  name: z.string().nullable(),
  role: z.enum(ROLES),
  joinedAt: time(),
});

export const memberBody = () => z.object(memberFields()).meta({ title: "Member" });

export const memberListBody = () => listBody(memberBody()).meta({ title: "MemberList" });

export const transferredBody = () =>
  z.object({ owner: memberBody(), previousOwner: memberBody() }).meta({ title: "TransferredOwnership" });

export const securityBody = () => z.object(policyFields()).meta({ title: "TeamSecurity" });
