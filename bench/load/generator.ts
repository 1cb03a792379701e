// The second process: a closed loop over keep-alive connections on loopback. Each connection sends its next request when the previous one has been
// answered. Percentiles are not corrected for the requests that a waiting client would have sent (performance.md "How it is measured").
import { percentile } from "../statistics.ts";
import { type Answer, Connection } from "./connection.ts";
import { COUNTER, COUNTER_DIGITS, type Job, type LoadResult, type Reply } from "./job.ts";

process.on("message", (job: Job) => {
  run(job).then(
    (result) => reply({ kind: "result", result }),
    (error: Error) => reply({ kind: "error", message: error.message }),
  );
});

function reply(message: Reply): void {
  process.send?.(message);
}

async function run(job: Job): Promise<LoadResult> {
  const tally = new Tally(job);
  const source = new Requests(job);
  const opened = Array.from({ length: job.connections }, () => Connection.open(job.host, job.port));
  const connections = await Promise.all(opened);
  const startedMs = performance.now();
  const endMs = startedMs + job.maxSeconds * 1_000;
  const mayGoOn = (nowMs: number) => nowMs < endMs && source.sent < job.maxRequests;
  await Promise.all(connections.map((connection) => loop(connection, source, tally, mayGoOn)));
  for (const connection of connections) connection.close();
  return tally.result(startedMs);
}

/** Runs one connection until the time or the number of requests is used up, or until the connection breaks. */
function loop(
  connection: Connection,
  source: Requests,
  tally: Tally,
  mayGoOn: (nowMs: number) => boolean,
): Promise<void> {
  return new Promise((resolve) => {
    const next = (): void => {
      const sentMs = performance.now();
      if (!mayGoOn(sentMs)) {
        resolve();
        return;
      }
      connection.send(source.next(), (answer) => {
        tally.add(answer, sentMs, performance.now());
        if (answer instanceof Error) resolve();
        else next();
      });
    };
    next();
  });
}

/** Uses the templates in turn, with the counter written into them. */
class Requests {
  sent = 0;
  readonly #templates: readonly { readonly bytes: Buffer; readonly counters: readonly number[] }[];
  readonly #numbers: Job["numbers"];

  constructor(job: Job) {
    this.#numbers = job.numbers;
    this.#templates = job.templates.map((text) => {
      const bytes = Buffer.from(text);
      return { bytes, counters: offsetsOf(bytes, COUNTER) };
    });
  }

  next(): Buffer {
    const template = this.#templates[this.sent % this.#templates.length];
    if (template === undefined) throw new Error("a job without templates");
    const number = this.#numbers.from + (this.sent++ % this.#numbers.count);
    if (template.counters.length === 0) return template.bytes;
    // A copy, because the socket may still hold the previous request's bytes.
    const request = Buffer.from(template.bytes);
    const digits = String(number).padStart(COUNTER_DIGITS, "0");
    for (const offset of template.counters) request.write(digits, offset, "latin1");
    return request;
  }
}

function offsetsOf(bytes: Buffer, text: string): number[] {
  const offsets: number[] = [];
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + text.length)) offsets.push(at);
  return offsets;
}

/** Collects latencies, and checks that the answers match the requests. */
class Tally {
  readonly #latenciesMs: number[] = [];
  readonly #seen = new Set<string>();
  readonly #expectStatus: number;
  readonly #pattern: RegExp;
  #failures = 0;
  #firstFailure: string | null = null;
  #lastMs = 0;

  constructor(job: Job) {
    this.#expectStatus = job.expectStatus;
    this.#pattern = new RegExp(job.pattern);
  }

  add(answer: Answer | Error, sentMs: number, nowMs: number): void {
    this.#latenciesMs.push(nowMs - sentMs);
    this.#lastMs = nowMs;
    const wrong = this.#check(answer);
    if (wrong === undefined) return;
    this.#failures++;
    this.#firstFailure ??= wrong;
  }

  /** Describes the error in an answer; undefined for a correct answer, whose group is then counted. */
  #check(answer: Answer | Error): string | undefined {
    if (answer instanceof Error) return answer.message;
    const found = this.#pattern.exec(answer.body);
    if (answer.status !== this.#expectStatus || found === null) return `${answer.status} ${answer.body.slice(0, 300)}`;
    this.#seen.add(found[1] ?? found[0]);
    return undefined;
  }

  result(startedMs: number): LoadResult {
    const sorted = Float64Array.from(this.#latenciesMs).sort();
    const seconds = (this.#lastMs - startedMs) / 1_000;
    return {
      requests: sorted.length,
      seconds,
      perSecond: sorted.length / seconds,
      p50Ms: percentile(sorted, 0.5),
      p90Ms: percentile(sorted, 0.9),
      p99Ms: percentile(sorted, 0.99),
      maxMs: percentile(sorted, 1),
      distinct: this.#seen.size,
      failures: this.#failures,
      firstFailure: this.#firstFailure,
    };
  }
}
