import { DurableObject } from "cloudflare:workers";
import { DirectoryEntries } from "./directory-entries.ts";

/** One object for each kind of listed objects, named after it. Called once per object, and by the import after a restore. */
export class Directory extends DurableObject<Env> {
  readonly #entries: DirectoryEntries;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#entries = new DirectoryEntries(ctx.storage);
  }

  /** Stored once this returns: the platform holds an answer back until earlier writes are stored. */
  enter(name: string, nowMs: number): void {
    this.#entries.enter(name, nowMs);
  }

  list(after: string, limit: number): readonly string[] {
    return this.#entries.list(after, limit);
  }
}
