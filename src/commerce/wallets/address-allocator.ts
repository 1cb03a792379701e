import { DurableObject } from "cloudflare:workers";
import { OwnEntry } from "../../platform/directory/own-entry.ts";
import {
  type AllocateAnswer,
  type AllocateRequest,
  Allocations,
  type GivenPlace,
  type GivenSince,
} from "./allocations.ts";
import { floorDependencies } from "./dependencies.ts";
import { readFloor } from "./read-floor.ts";

/**
 * One object per extended key and network, named by the key's hash. Only this object gives addresses of that key. `Allocations` contains the logic.
 */
export class AddressAllocator extends DurableObject<Env> {
  readonly #keyHash: string;
  readonly #allocations: Allocations;
  readonly #entry: OwnEntry;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const keyHash = ctx.id.name;
    if (keyHash === undefined) throw new Error("an object is addressed by its name");
    this.#keyHash = keyHash;
    this.#allocations = new Allocations(ctx.storage, keyHash);
    this.#entry = new OwnEntry(ctx.storage, env, { kind: "ADDRESSES", name: keyHash, nowMs: () => Date.now() });
  }

  async allocate(request: AllocateRequest): Promise<AllocateAnswer> {
    if (!this.#isReady()) await this.#begin();
    return this.#allocations.allocate(request);
  }

  /** The answers, in the order of the requests. If one request is refused, the others are not affected. */
  async allocateEach(requests: readonly AllocateRequest[]): Promise<AllocateAnswer[]> {
    if (!this.#isReady()) await this.#begin();
    return requests.map((request) => this.#allocations.allocate(request));
  }

  async nextIndex(): Promise<{ nextIndex: number }> {
    if (!this.#isReady()) await this.#begin();
    return { nextIndex: this.#allocations.nextIndex() };
  }

  /** The addresses given at or after a time, with their terms, for the import after a restore of the database. */
  given(since: GivenSince): readonly GivenPlace[] {
    return this.#allocations.given(since);
  }

  #isReady(): boolean {
    return this.#entry.isMade() && !this.#allocations.isNew();
  }

  /** Runs once per key, when its first wallet is registered. No address is given until the directory and the database have answered. */
  async #begin(): Promise<void> {
    await this.#entry.make();
    if (!this.#allocations.isNew()) return;
    this.#allocations.begin(await readFloor(floorDependencies(this.env), this.#keyHash));
  }
}
