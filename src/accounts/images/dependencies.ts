import type { GivenDependencies } from "../../platform/http/context.ts";
import { publicUrl } from "../../platform/http/deployment.ts";
import type { ImageDependencies } from "./upload-image.ts";

/** Dependencies of image operations, built from the environment once per request. */
export function imageDependencies(
  env: Env,
  { db, nowMs, sleep }: Pick<GivenDependencies, "db" | "nowMs" | "sleep">,
): ImageDependencies {
  return { db, nowMs, sleep, publicUrl: publicUrl(env) };
}
