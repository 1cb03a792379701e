// Replaces `cloudflare:workers` with what workerd gives a new instance, so that simulators can run the classes of Durable Objects in Node.
// `vitest.config.ts` and `bench/mutants` resolve the name to this file.

export class DurableObject<E = unknown> {
  protected readonly ctx: DurableObjectState;
  protected readonly env: E;

  constructor(ctx: DurableObjectState, env: E) {
    this.ctx = ctx;
    this.env = env;
  }
}
