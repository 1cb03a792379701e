import { logAlert } from "../../lib/log.ts";
import type { ReturnDependencies } from "./sign-return.ts";
import { parseSigningKeys } from "./signing-key.ts";

export function returnDependencies(env: Pick<Env, "SIGNING_KEY">): ReturnDependencies {
  return { signingKeys: parseSigningKeys(env.SIGNING_KEY), report: logAlert };
}
