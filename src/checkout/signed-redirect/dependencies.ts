import { logAlert } from "../../lib/log.ts";
import type { GivenDependencies } from "../../platform/http/context.ts";
import { type KeySettings, keyringOf } from "../../platform/keys/keyrings.ts";
import type { PublicKeyDependencies } from "./read-public-keys.ts";
import type { ReturnDependencies } from "./sign-return.ts";
import { signingKeysOf } from "./signing-key.ts";

export function returnDependencies(env: KeySettings<"SIGNING_KEY">): ReturnDependencies {
  return { signingKeys: signingKeysOf(env), report: logAlert };
}

export function publicKeyDependencies(
  env: KeySettings<"SIGNING_KEY" | "ROW_MAC_KEY">,
  { db, nowMs, sleep }: GivenDependencies,
): PublicKeyDependencies {
  return { db, nowMs, sleep, signingKeys: signingKeysOf(env), macKeys: keyringOf(env, "ROW_MAC_KEY") };
}
