// A user for the rules: the account and its factors, read with every request.
import type { UserId } from "../../lib/ids.ts";

export interface User {
  readonly id: UserId;
  readonly email: string;
  readonly emailKey: string;
  readonly name: string | null;
  readonly isEmailVerified: boolean;
  readonly hasTotp: boolean;
  readonly hasEmailOtp: boolean;
  readonly hasPasskey: boolean;
  readonly hasGoogle: boolean;
  readonly hasGithub: boolean;
}
