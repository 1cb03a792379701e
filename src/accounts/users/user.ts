// A user for the rules: the account and its factors, read with every request.
import type { UserId } from "../../lib/ids.ts";

/** What a team may require of its members, as far as the account has it. */
export interface Factors {
  readonly isEmailVerified: boolean;
  readonly hasTotp: boolean;
  readonly hasEmailOtp: boolean;
  readonly hasPasskey: boolean;
  readonly hasGoogle: boolean;
  readonly hasGithub: boolean;
}

export interface User extends Factors {
  readonly id: UserId;
  readonly email: string;
  readonly emailKey: string;
  readonly name: string | null;
  /** Whether the user runs the deployment. It is no role: it opens no merchant's data. */
  readonly isOperator: boolean;
}
