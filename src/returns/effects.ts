import type { ReturnEffects } from "./sign-return.ts";
import { parseSigningKeys } from "./signing-key.ts";

export function returnEffects(env: Pick<Env, "SIGNING_KEY">): ReturnEffects {
  return { signingKeys: parseSigningKeys(env.SIGNING_KEY), log: (line) => console.error(line) };
}
