// The bare loop of signed POSTs as a worker, on the same runtime and with the same fetch as the product, but without queue and database. The body
// of `POST /` is the job.
import { type Post, postAll } from "../deliveries/bare-post.ts";
import type { BareJob } from "../deliveries/messages.ts";
import { webSigner } from "../deliveries/web-signer.ts";

const post: Post = async (url, headers, body) => {
  const answer = await fetch(url, { method: "POST", headers, body, redirect: "manual" });
  await answer.arrayBuffer();
  return answer.status;
};

export default {
  async fetch(request: Request): Promise<Response> {
    const job: BareJob = await request.json();
    await postAll(job, await webSigner(job.secret), post);
    return new Response("done");
  },
};
