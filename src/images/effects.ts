import type { GivenEffects } from "../auth/middleware.ts";
import { publicUrl } from "../http/deployment.ts";
import type { Sleep } from "../lib/sleep.ts";
import type { ImageEffects } from "./upload-image.ts";

/** The world as image operations take it, built from the environment once per request. */
export function imageEffects(
  env: Env,
  { db, nowMs, sleep }: Pick<GivenEffects, "db" | "nowMs" | "sleep">,
): ImageEffects & { readonly sleep: Sleep } {
  return { db, nowMs, sleep, publicUrl: publicUrl(env) };
}
