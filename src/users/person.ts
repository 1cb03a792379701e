// A person as the rules see them: the account and which factors stand, read anew with every request (security.md 1).
import type { UserId } from "../lib/ids.ts";

export interface Person {
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
