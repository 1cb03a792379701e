// In the place of `cloudflare:workers`, so that simulators run the classes of objects in Node: what workerd gives to an instance when it is made.
// `vitest.config.ts` and `bench/mutants` resolve the name to this file.

export class DurableObject<E = unknown> {
  protected readonly ctx: DurableObjectState;
  protected readonly env: E;

  constructor(ctx: DurableObjectState, env: E) {
    this.ctx = ctx;
    this.env = env;
  }
}
