import type { MacKeys } from "../../commerce/wallet-records/row-mac.ts";
import type { GivenDependencies } from "../../platform/http/context.ts";
import { type KeySettings, keyringOf } from "../../platform/keys/keyrings.ts";

interface AttentionDependencies {
  readonly macKeys: MacKeys;
  readonly nowMs: number;
}

export function attentionDependencies(
  env: KeySettings<"ROW_MAC_KEY">,
  { nowMs }: GivenDependencies,
): AttentionDependencies {
  const macKeys = keyringOf(env, "ROW_MAC_KEY");
  if (!macKeys.ok) throw new Error(macKeys.error);
  return { macKeys: macKeys.value, nowMs };
}
