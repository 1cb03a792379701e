// The data of team events.
import type { MemberId } from "../../lib/ids.ts";
import type { Role } from "../roles/roles.ts";
import type { memberBodyOf } from "./member.ts";

type MemberBody = ReturnType<typeof memberBodyOf>;

interface OfMember {
  readonly memberId: MemberId;
  readonly member: MemberBody;
}

export interface TeamEvents {
  readonly "team.member_joined": OfMember;
  readonly "team.member_removed": OfMember & { readonly hasLeft: boolean };
  readonly "team.role_changed": OfMember & { readonly previousRole: Role };
  readonly "team.ownership_transferred": { readonly owner: MemberBody; readonly previousOwner: MemberBody };
}
