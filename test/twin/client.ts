// A shop's server. It retries with growing pauses until it succeeds, and records each route's answers.
import { setTimeout as sleep } from "node:timers/promises";
import type { Answered, Twin } from "./deployment.ts";
import type { Answer, Measured } from "./measured.ts";

/** How long a create is repeated with its key until it is answered. The longest reported stall is 80 s. */
export const ANSWERED_WITHIN_MS = 180_000;
/**
 * After Retry-After the client waits a random part of a delay, which doubles from `first` up to `most`, as our documents and our own client do, so
 * that clients refused together do not retry together.
 */
const AGAIN_AFTER_MS = { first: 500, most: 16_000 };
/** The status of a broken connection. */
export const BROKE = 599;
const BROKEN: Answered = { status: BROKE, text: "the connection broke", cookies: [], retryAfterMs: 0 };
/** Whether a client retries with the same key after this answer, because nothing was done or the work is still in progress. */
const mayRepeat = ({ status, text }: Answered) =>
  status >= 500 || status === 429 || /"code":"[A-Z_]*IN_PROGRESS"/.test(text);

interface Call {
  /** The name under which the call's answers are counted. */
  readonly route: string;
  readonly path: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export class Client {
  readonly #ask: Twin["ask"];
  readonly #random: () => number;
  readonly #open = new Set<Call>();
  readonly #routes = new Map<string, Answer[]>();

  constructor(ask: Twin["ask"], random: () => number) {
    this.#ask = ask;
    this.#random = random;
  }

  /** How many calls that include these headers have not succeeded yet. */
  open(headers: Call["headers"]): number {
    const isOf = (call: Call) => Object.entries(headers).every(([name, value]) => call.headers[name] === value);
    return [...this.#open].filter(isOf).length;
  }

  get routes(): ReadonlyMap<string, Measured> {
    return this.#routes;
  }

  /** Sends the call once. If the connection breaks, for example because a machine is replaced, the caller cannot know whether the work was done. */
  async once({ route, path, ...asked }: Call): Promise<Answered> {
    const answers = this.#routes.get(route) ?? [];
    this.#routes.set(route, answers);
    const begunMs = Date.now();
    const answer = await this.#ask(path, asked).catch(() => BROKEN);
    answers.push({ begunMs, ms: Date.now() - begunMs, status: answer.status });
    return answer;
  }

  /** Retries until the call succeeds, including after refusals that ask for a retry. */
  async good(call: Call): Promise<Answered> {
    this.#open.add(call);
    try {
      return await this.#answered(call);
    } finally {
      this.#open.delete(call);
    }
  }

  async #answered(call: Call): Promise<Answered> {
    const begunMs = Date.now();
    for (let pauseMs = AGAIN_AFTER_MS.first; ; pauseMs = Math.min(2 * pauseMs, AGAIN_AFTER_MS.most)) {
      const answer = await this.once(call);
      if (answer.status < 300) return answer;
      if (!mayRepeat(answer) || Date.now() - begunMs > ANSWERED_WITHIN_MS)
        throw new Error(`${call.route}: ${answer.status} ${answer.text.slice(0, 300)}`);
      await sleep(answer.retryAfterMs + pauseMs * this.#random());
    }
  }
}
