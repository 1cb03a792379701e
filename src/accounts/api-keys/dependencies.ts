import { newOperationId } from "../../lib/ids.ts";
import type { GivenDependencies } from "../../platform/http/context.ts";
import { keyringOf } from "../../platform/keys/keyrings.ts";
import { mailerOf } from "../../platform/mail/dependencies.ts";
import { newApiKey } from "../auth/api-key.ts";
import type { KeyDependencies } from "./change-api-key.ts";

/** Dependencies of key operations, built once per request. */
export function keyDependencies(env: Env, given: GivenDependencies): KeyDependencies {
  const { db, nowMs, sleep } = given;
  return {
    mailer: mailerOf(env, given),
    db,
    nowMs,
    sleep,
    newOperationId,
    newSecret: (of) => {
      const macKeys = keyringOf(env, "API_KEY_MAC_KEY");
      if (!macKeys.ok) throw new Error(macKeys.error);
      const randomBytes = (count: number) => crypto.getRandomValues(new Uint8Array(count));
      return newApiKey({ ...of, macKeys: macKeys.value, randomBytes });
    },
  };
}
