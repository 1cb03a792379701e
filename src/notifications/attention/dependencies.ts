import { type MacKeys, parseMacKeys } from "../../commerce/wallets/row-mac.ts";
import type { GivenDependencies } from "../../platform/http/context.ts";

export interface AttentionDependencies {
  readonly macKeys: MacKeys;
  readonly nowMs: number;
}

export function attentionDependencies(
  env: Pick<Env, "ROW_MAC_KEY">,
  { nowMs }: GivenDependencies,
): AttentionDependencies {
  const macKeys = parseMacKeys(env.ROW_MAC_KEY);
  if (!macKeys.ok) throw new Error(macKeys.error);
  return { macKeys: macKeys.value, nowMs };
}
