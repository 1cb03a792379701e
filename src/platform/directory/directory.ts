import { DurableObject } from "cloudflare:workers";
import { DirectoryEntries } from "./directory-entries.ts";

/** One object for each kind of listed object, named after the kind. Each listed object calls it once; the import after a restore lists them. */
export class Directory extends DurableObject<Env> {
  readonly #entries: DirectoryEntries;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#entries = new DirectoryEntries(ctx.storage);
  }

  /** The entry is stored once this returns: the platform delays an answer until earlier writes are stored. */
  enter(name: string, nowMs: number): void {
    this.#entries.enter(name, nowMs);
  }

  list(after: string, limit: number): readonly string[] {
    return this.#entries.list(after, limit);
  }
}
