// A user's seat in the team of a merchant (Interface 2.3), and its form in responses and events (decisions 9).
import type { MemberId, MerchantId, UserId } from "../../lib/ids.ts";
import { isoTime } from "../../lib/time.ts";
import type { Role } from "../roles/roles.ts";

export interface Member {
  readonly id: MemberId;
  readonly merchantId: MerchantId;
  readonly userId: UserId;
  readonly role: Role;
  readonly createdAtMs: number;
  readonly email: string;
  readonly name: string | null;
}

/** The seat of the user who calls a team route. */
export interface Seat {
  readonly merchantId: MerchantId;
  readonly memberId: MemberId;
}

export function memberBodyOf(member: Member) {
  const { id, userId, email, name, role, createdAtMs } = member;
  return { id, userId, email, name, role, joinedAt: isoTime(createdAtMs) };
}
