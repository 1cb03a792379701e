// The names of everything that belongs to one deployment, at Cloudflare and locally. Two deployments share none of them.
import { createHash } from "node:crypto";

export interface Deployment {
  /** Also the name of the Worker and of its database. */
  readonly name: string;
  readonly queues: readonly [webhooks: string, jobs: string];
  /** In the root, because wrangler resolves its paths from there. */
  readonly configuration: string;
  readonly folder: string;
  readonly rememberedFile: string;
  readonly secretsFile: string;
}

export function deploymentOf(name: string): Deployment {
  const folder = `.edgetill/deployments/${name}`;
  return {
    name,
    queues: [`${name}-webhooks`, `${name}-jobs`],
    configuration: `wrangler.${name}.jsonc`,
    folder,
    rememberedFile: `${folder}/deployment.json`,
    secretsFile: `${folder}/secrets.env`,
  };
}

/**
 * In an account, all rate limits with the same `namespace_id` share counters, so each limit of each deployment gets its own. `base` is the
 * `namespace_id` in wrangler.toml.
 */
export function rateLimitNamespace(name: string, base: string): string {
  const bytes = createHash("sha256").update(`${name} ${base}`).digest();
  return String(1_000_000 + (bytes.readUInt32BE(0) % 1_000_000_000));
}
