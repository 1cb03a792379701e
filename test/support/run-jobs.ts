// What a tick of the cron comes to, without the queue between: the messages that it sends, each through the worker's own entry.
import { createScheduledController } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { jobsOf } from "../../src/app/jobs.ts";
import worker from "../../src/app/worker.ts";
import { takeMessage } from "./queue-messages.ts";

/** Runs every job once. Rejects with the first fault, once all have run. Messages that the jobs send go into `sent`, and nowhere else. */
export async function runJobs(sent: unknown[] = []): Promise<void> {
  const answer = { metadata: { metrics: { backlogCount: 0, backlogBytes: 0 } } };
  const collect = (into: unknown[]) => ({
    ...env,
    JOB_QUEUE: {
      send: async (body: unknown) => {
        into.push(body);
        return answer;
      },
      sendBatch: async (messages: Iterable<{ readonly body: unknown }>) => {
        for (const { body } of messages) into.push(body);
        return answer;
      },
    } as Env["JOB_QUEUE"],
  });
  const dispatched: unknown[] = [];
  await worker.scheduled(createScheduledController(), collect(dispatched));
  const jobs = jobsOf(env).length;
  if (dispatched.length !== jobs) throw new Error(`${dispatched.length} messages for ${jobs} jobs`);
  const ends = await Promise.allSettled(dispatched.map((body) => takeMessage(body, collect(sent))));
  for (const end of ends) if (end.status === "rejected") throw end.reason;
}
