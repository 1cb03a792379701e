// Sends a message through the Worker's queue entry. The name of the queue varies, because each deployer chooses it.
import { createExecutionContext, createMessageBatch, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import worker from "../../src/app/worker.ts";

/** Queue names that a deployer may choose, including those that mean something else in this project. */
function queueName(): string {
  const names = ["edgetill-jobs", "edgetill-webhooks", "shop-jobs", "jobs", `q-${crypto.randomUUID()}`];
  return names[Math.floor(Math.random() * names.length)] ?? "q";
}

/** Handles one message; resolves once its background work is done too. */
export async function takeMessage(body: unknown, bindings: Partial<Env> = {}, queue = queueName()): Promise<void> {
  const message = { id: crypto.randomUUID(), timestamp: new Date(), attempts: 1, body };
  const context = createExecutionContext();
  await worker.queue(createMessageBatch(queue, [message]), { ...env, ...bindings }, context);
  await waitOnExecutionContext(context);
}
