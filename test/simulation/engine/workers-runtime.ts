// Replaces `cloudflare:workers`, so simulators run the objects' classes in Node: what workerd gives a new instance. `vitest.config.ts` and
// `bench/mutants` resolve the name to this file.

export class DurableObject<E = unknown> {
  protected readonly ctx: DurableObjectState;
  protected readonly env: E;

  constructor(ctx: DurableObjectState, env: E) {
    this.ctx = ctx;
    this.env = env;
  }
}
