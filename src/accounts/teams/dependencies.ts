// Dependencies of team operations, built from the environment once per request.

import { newOperationId } from "../../lib/ids.ts";
import type { GivenDependencies } from "../../platform/http/context.ts";
import { publicUrl } from "../../platform/http/deployment.ts";
import { mailerOf } from "../../platform/mail/dependencies.ts";
import { configuredProviders } from "../security-policies/providers.ts";

export function teamDependencies(env: Env, given: GivenDependencies) {
  const { db, nowMs, sleep } = given;
  return {
    db,
    nowMs,
    sleep,
    newOperationId,
    mailer: mailerOf(env, given),
    publicUrl: publicUrl(env),
    configured: configuredProviders(env.SIGN_IN_PROVIDERS),
  };
}
