// A message through the worker's own entry, as a queue hands it over. The queue has another name each time: names are the deployer's.
import { createExecutionContext, createMessageBatch, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import worker from "../../src/app/worker.ts";

/** Names of queues that a deployer may choose; the worst are those that mean something else to us. */
function queueName(): string {
  const names = ["edgetill-jobs", "edgetill-webhooks", "shop-jobs", "jobs", `q-${crypto.randomUUID()}`];
  return names[Math.floor(Math.random() * names.length)] ?? "q";
}

/** Handles one message; resolves when what it left in the background is done, too. */
export async function takeMessage(body: unknown, bindings: Partial<Env> = {}, queue = queueName()): Promise<void> {
  const message = { id: crypto.randomUUID(), timestamp: new Date(), attempts: 1, body };
  const context = createExecutionContext();
  await worker.queue(createMessageBatch(queue, [message]), { ...env, ...bindings }, context);
  await waitOnExecutionContext(context);
}
