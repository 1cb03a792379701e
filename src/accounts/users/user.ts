// A user as the access rules see it: the account and its factors, read with every request.
import type { UserId } from "../../lib/ids.ts";

/** The factors that a team may require, and whether the account has each of them. */
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
  /** Whether the user runs the deployment. It is not a role: it gives access to no merchant's data. */
  readonly isOperator: boolean;
}
