// The nightly export on workerd, through the queue's own entry.
import { vi } from "vitest";
import type { MemoryBucket } from "./export-bucket.ts";
import { takeMessage } from "./queue-messages.ts";
import { standIns } from "./stand-ins.ts";

export const NIGHT = Date.UTC(2027, 0, 2, 3);

/** Runs the job and everything it enqueues; returns the number of runs. */
export async function runNight(bucket: R2Bucket | MemoryBucket, settings: Partial<Env> = {}): Promise<number> {
  const messages: unknown[] = [{ job: "export-merchants", minuteMs: NIGHT, runs: 0 }];
  const send = async (message: unknown) => void messages.push(message);
  const bindings = { ...settings, ...standIns({ EXPORTS: bucket, JOB_QUEUE: { send } }) };
  for (const [at, body] of messages.entries()) {
    if (at === 50) throw new Error("the job does not end");
    await takeMessage(body, bindings);
  }
  return messages.length;
}

/** Runs the work with the clock stopped at that time. */
export async function at<T>(ms: number, work: () => Promise<T>): Promise<T> {
  vi.useFakeTimers({ now: ms, toFake: ["Date"] });
  try {
    return await work();
  } finally {
    vi.useRealTimers();
  }
}

export async function jsonIn<T>(bucket: R2Bucket, key: string): Promise<T> {
  return JSON.parse((await (await bucket.get(key))?.text()) ?? "null");
}

/** The rows of one part of an export. */
export async function linesIn<Line>(bucket: R2Bucket, key: string): Promise<Line[]> {
  const object = await bucket.get(key);
  const text = await new Response(object?.body.pipeThrough(new DecompressionStream("gzip"))).text();
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

/** Empties a bucket: it outlives the test file that wrote to it, and a night that was exported is not exported again. */
export async function emptyBucket(bucket: R2Bucket): Promise<void> {
  const { objects } = await bucket.list();
  await bucket.delete(objects.map(({ key }) => key));
}
