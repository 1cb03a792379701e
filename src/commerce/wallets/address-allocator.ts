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

/** One object per extended key and network, named by the key's hash. Only it hands out that key's addresses. The logic is in `Allocations`. */
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

  /** The answers in order; a refusal of one changes no other. */
  async allocateEach(requests: readonly AllocateRequest[]): Promise<AllocateAnswer[]> {
    if (!this.#isReady()) await this.#begin();
    return requests.map((request) => this.#allocations.allocate(request));
  }

  async nextIndex(): Promise<{ nextIndex: number }> {
    if (!this.#isReady()) await this.#begin();
    return { nextIndex: this.#allocations.nextIndex() };
  }

  /** What was given at or after a time, with its terms, for the import after a restore of the database. */
  given(since: GivenSince): readonly GivenPlace[] {
    return this.#allocations.given(since);
  }

  #isReady(): boolean {
    return this.#entry.isMade() && !this.#allocations.isNew();
  }

  /** Once per key, when its first wallet is registered. No address is given while the directory or the database does not answer. */
  async #begin(): Promise<void> {
    await this.#entry.make();
    if (!this.#allocations.isNew()) return;
    this.#allocations.begin(await readFloor(floorDependencies(this.env), this.#keyHash));
  }
}
