// The entry that mixed-wrangler.ts serves as this release's edge. Only stand-ins run this release, because the previous release never calls them. All other objects belong to the other release.
import worker from "../../src/app/worker.ts";
import { ownerOf } from "../../src/lib/object-of.ts";

// biome-ignore lint/performance/noReExportAll: the runtime looks for all the objects' classes here
// biome-ignore lint/performance/noBarrelFile: the same
export * from "../../src/app/worker.ts";

interface Mixed extends Env {
  readonly OWN_MERCHANT_OBJECT: Env["MERCHANT_OBJECT"];
}

function mix(env: Env): Env {
  const { MERCHANT_OBJECT: others, OWN_MERCHANT_OBJECT: own } = env as Mixed;
  const getByName: (typeof own)["getByName"] = (name, options) =>
    (ownerOf(name) === name ? others : own).getByName(name, options);
  return { ...env, MERCHANT_OBJECT: Object.assign(Object.create(others), { getByName }) };
}

export default {
  fetch: (request, env, ctx) => worker.fetch(request, mix(env), ctx),
  scheduled: (controller, env) => worker.scheduled(controller, mix(env)),
  queue: (batch, env, ctx) => worker.queue(batch, mix(env), ctx),
} satisfies ExportedHandler<Env>;
