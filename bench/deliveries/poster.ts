// The bare loop in Node, in its own process: as many keep-alive connections as POSTs in progress.
import { Agent, request } from "node:http";
import { type Post, postAll } from "./bare-post.ts";
import { answerQuestions } from "./companion.ts";
import { type BareJob, nowMs } from "./messages.ts";
import { nodeSigner } from "./node-signer.ts";

/** Jobs that run concurrently. */
export type Jobs = readonly BareJob[];
export interface Began {
  readonly atMs: number;
}

const agent = new Agent({ keepAlive: true });

const post: Post = (url, headers, body) =>
  new Promise((resolve, reject) => {
    const sent = request(url, {
      agent,
      method: "POST",
      headers: { ...headers, "content-length": Buffer.byteLength(body) },
    });
    sent.on("error", reject);
    sent.on("response", (response) => {
      response.on("error", reject);
      response.on("end", () => resolve(response.statusCode ?? 0));
      response.resume();
    });
    sent.end(body);
  });

answerQuestions<Jobs, Began>(async (jobs) => {
  const atMs = nowMs();
  await Promise.all(jobs.map((job) => postAll(job, nodeSigner(job.secret), post)));
  return { atMs };
});
