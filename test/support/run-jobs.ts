// Runs one hour of the cron without a queue: the messages that it sends, one per job, go straight through the Worker's own entry.
import { createScheduledController } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { JOB_NAMES, type JobMessage, jobsOf } from "../../src/app/jobs.ts";
import worker from "../../src/app/worker.ts";
import { CRON_EVERY_MS } from "../../src/platform/jobs/cron.ts";
import { takeMessage } from "./queue-messages.ts";
import { standIns } from "./stand-ins.ts";

/** Enough ticks for each job to start once. */
const TICKS = 60;

/** Runs every job once. After all have run, rejects with the first fault. Messages that the jobs send are only collected in `sent`. */
export async function runJobs(sent: unknown[] = []): Promise<void> {
  const answer = { metadata: { metrics: { backlogCount: 0, backlogBytes: 0 } } };
  const collect = (into: unknown[]) => ({
    ...env,
    ...standIns({
      JOB_QUEUE: {
        send: async (body: unknown) => {
          into.push(body);
          return answer;
        },
        sendBatch: async (messages: Iterable<{ readonly body: unknown }>) => {
          for (const { body } of messages) into.push(body);
          return answer;
        },
      },
    }),
  });
  const nowMs = Date.now();
  const dispatched: unknown[] = [];
  for (let tick = 0; tick < TICKS; tick++)
    await worker.scheduled(
      createScheduledController({ scheduledTime: new Date(nowMs - tick * CRON_EVERY_MS.development) }),
      collect(dispatched),
    );
  const jobs = new Set(dispatched.map(jobIn));
  if (jobs.size !== jobsOf(env).length) throw new Error(`messages for ${[...jobs]}, and not for ${jobsOf(env)}`);
  const messages = [...jobs].map((job): JobMessage => ({ job, minuteMs: nowMs, runs: 0 }));
  const ends = await Promise.allSettled(messages.map((body) => takeMessage(body, collect(sent))));
  for (const end of ends) if (end.status === "rejected") throw end.reason;
}

function jobIn(message: unknown): JobMessage["job"] {
  const job = JOB_NAMES.find((name) => name === Object(message).job);
  if (job === undefined) throw new Error(`a message names no job: ${JSON.stringify(message)}`);
  return job;
}
