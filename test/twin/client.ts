// A shop's server: it asks again, ever later, until it is answered well, and what each route answered is kept.
import { setTimeout as sleep } from "node:timers/promises";
import type { Answered, Twin } from "./deployment.ts";
import type { Answer, Measured } from "./measured.ts";

/** A create is asked again with its key until it is answered; the longest stall that was reported is 80 s. */
const ANSWERED_WITHIN_MS = 180_000;
/**
 * Behind what Retry-After asks for, some part of a time that doubles up to the second, as the documents and the project's own client have it: those who were
 * refused together do not come back together.
 */
const AGAIN_AFTER_MS = { first: 500, most: 16_000 };
/** In place of a status, where the connection broke. */
export const BROKE = 599;
const BROKEN: Answered = { status: BROKE, text: "the connection broke", cookies: [], retryAfterMs: 0 };
/** What a client asks again with the same key: nothing was done, or it is still being done. */
const mayRepeat = ({ status, text }: Answered) =>
  status >= 500 || status === 429 || /"code":"[A-Z_]*IN_PROGRESS"/.test(text);

interface Call {
  /** Under which its answers are counted. */
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

  /** How many calls with these very headers, or with more than these, are not answered well yet. */
  open(headers: Call["headers"]): number {
    const isOf = (call: Call) => Object.entries(headers).every(([name, value]) => call.headers[name] === value);
    return [...this.#open].filter(isOf).length;
  }

  get routes(): ReadonlyMap<string, Measured> {
    return this.#routes;
  }

  /** Once; a connection that breaks, as while machines are replaced, says nothing of what was done. */
  async once({ route, path, ...asked }: Call): Promise<Answered> {
    const answers = this.#routes.get(route) ?? [];
    this.#routes.set(route, answers);
    const begunMs = Date.now();
    const answer = await this.#ask(path, asked).catch(() => BROKEN);
    answers.push({ begunMs, ms: Date.now() - begunMs, status: answer.status });
    return answer;
  }

  /** Asks until it is answered well; refusals that ask to be asked again are. */
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
