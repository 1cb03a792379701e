import { DurableObject } from "cloudflare:workers";
import { type AllocateAnswer, type AllocateRequest, Allocations } from "./allocations.ts";

/** One object per extended key and network, named by the key's hash. Only it hands out that key's addresses. The logic is in `Allocations`. */
export class AddressAllocator extends DurableObject<Env> {
  readonly #allocations: Allocations;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const keyHash = ctx.id.name;
    if (keyHash === undefined) throw new Error("an allocator must be addressed by its key's hash, never by a bare id");
    this.#allocations = new Allocations(ctx.storage, keyHash);
  }

  allocate(request: AllocateRequest): AllocateAnswer {
    return this.#allocations.allocate(request);
  }

  /** The answers in order; a refusal of one changes no other. */
  allocateEach(requests: readonly AllocateRequest[]): AllocateAnswer[] {
    return requests.map((request) => this.#allocations.allocate(request));
  }

  nextIndex(): { nextIndex: number } {
    return { nextIndex: this.#allocations.nextIndex() };
  }
}
