import { newOperationId } from "../../lib/ids.ts";
import type { GivenDependencies } from "../../platform/http/context.ts";
import { publicUrl } from "../../platform/http/deployment.ts";
import { resolveHost } from "../../platform/resolver/host-resolver-client.ts";
import type { ProductDependencies } from "./change-product.ts";

/** Dependencies of product operations, built from the environment once per request. */
export function productDependencies(env: Env, { db, nowMs, sleep }: GivenDependencies): ProductDependencies {
  return {
    db,
    nowMs,
    sleep,
    newOperationId,
    publicUrl: publicUrl(env),
    resolve: (host) => resolveHost({ fetch: (url, init) => fetch(url, init) }, host),
    fetch: (url, init) => fetch(url, init),
  };
}
