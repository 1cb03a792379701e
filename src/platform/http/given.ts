// What every request has before anything is known of its caller, and how a feature makes the dependencies of its operations from it.
import { requestSleep, type Sleep } from "../../lib/sleep.ts";
import type { Db } from "../db/client.ts";
import { openWakingDb } from "../db/client.ts";
import type { AppContext } from "./context.ts";

export interface GivenDependencies {
  readonly db: Db;
  readonly nowMs: number;
  readonly sleep: Sleep;
  /** Runs after the answer; may be lost. */
  readonly background: (work: Promise<unknown>) => void;
}

/** Called at most once for a request. */
export type MakeDependencies<Deps> = (env: Env, given: GivenDependencies) => Deps;

export function givenDependencies(c: AppContext): GivenDependencies {
  const background = (work: Promise<unknown>) => c.executionCtx.waitUntil(work.catch(() => undefined));
  return { db: openWakingDb(c.env, background), nowMs: c.get("nowMs"), sleep: requestSleep(), background };
}
