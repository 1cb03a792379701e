// The environment of a deploy. A test supplies its own folder, wrangler and terminal.
import type { Ask } from "./ask.ts";
import type { RawConfiguration } from "./configuration.ts";
import type { Deployment } from "./deployment.ts";
import { readSecrets } from "./look.ts";
import type { VendorEdge } from "./probe-source.ts";
import { type Environment, type Program, type Wrangler, wranglerFor } from "./wrangler-command.ts";

export interface Surroundings {
  /** The repository's folder. */
  readonly root: string;
  readonly wrangler: Program;
  readonly environment: Environment;
  readonly print: (text: string) => void;
  /** Undefined without a terminal. */
  readonly ask: Ask | undefined;
  /** wrangler.toml, unchanged. */
  readonly base: RawConfiguration;
  /** Whether the domain already resolves. */
  readonly isTaken: (domain: string) => Promise<boolean>;
  readonly vendors: VendorEdge;
  readonly buildAssets: () => Promise<void>;
  readonly nowMs: () => number;
}

export function wranglerOf(
  surroundings: Surroundings,
  deployment: Deployment | undefined,
  accountId: string | undefined,
): Wrangler {
  const { root, environment, print, wrangler: program } = surroundings;
  // Read again for each command, because earlier steps add to the secrets file.
  const notInherited = () => [
    "MASTER_KEY",
    ...(deployment === undefined ? [] : Object.keys(readSecrets(root, deployment))),
  ];
  return wranglerFor({ root, program, environment, print, notInherited, accountId });
}
