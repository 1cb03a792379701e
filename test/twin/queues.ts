// Queues that behave like production's. At low volume there is one consumer at a time; more are added only after a batch has been processed,
// depending on the backlog. Messages are late, out of order, and sometimes duplicated. A failed message is redelivered as often as its consumer's
// configuration says.
import type { Consumer } from "./account-kept.ts";

/** Faults in message handling. */
export interface Manners {
  /** The share of duplicated messages. */
  readonly twice: number;
  readonly latestMs: number;
}

export type Consume = (
  queue: string,
  messages: readonly {
    readonly id: string;
    readonly timestamp: Date;
    readonly body: unknown;
    readonly attempts: number;
  }[],
) => Promise<"ok" | "failed">;

interface Waiting {
  readonly id: string;
  readonly body: unknown;
  readonly sentMs: number;
  readonly attempts: number;
  readonly dueMs: number;
}

/** Production's limit on concurrent consumers of one queue. */
const MOST_AT_ONCE = 250;
/** Waiting messages for each additional consumer. */
const BACKLOG_A_CONSUMER = 10;
const LOOK_EVERY_MS = 20;
const RETRY_MS = 1_000;

interface QueuesOptions {
  readonly consumerOf: (queue: string) => Consumer | undefined;
  readonly consume: Consume;
  readonly manners: Manners;
  readonly random: () => number;
}

export class Queues {
  readonly #waiting = new Map<string, Waiting[]>();
  readonly #atWork = new Map<string, number>();
  readonly #allowed = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;
  readonly #options: QueuesOptions;
  #sent = 0;
  #isOver = false;

  constructor(options: QueuesOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS);
  }

  /** The number of waiting messages, and of batches being consumed. */
  get open(): number {
    const waiting = [...this.#waiting.values()].reduce((sum, messages) => sum + messages.length, 0);
    return waiting + [...this.#atWork.values()].reduce((sum, batches) => sum + batches, 0);
  }

  send(queue: string, body: unknown): void {
    const { manners, random } = this.#options;
    const copies = random() < manners.twice ? 2 : 1;
    this.#sent += 1;
    for (let copy = 0; copy < copies; copy++) {
      const dueMs = Date.now() + random() * manners.latestMs;
      this.#put(queue, { id: `message-${this.#sent}`, body, sentMs: Date.now(), attempts: 1, dueMs });
    }
  }

  /** Stops deliveries; waiting messages are lost. */
  stop(): void {
    this.#isOver = true;
    clearInterval(this.#timer);
  }

  #put(queue: string, message: Waiting): void {
    const waiting = this.#waiting.get(queue) ?? [];
    waiting.push(message);
    this.#waiting.set(queue, waiting);
  }

  #look(): void {
    for (const [queue, waiting] of this.#waiting) {
      const consumer = this.#options.consumerOf(queue);
      const atWork = this.#atWork.get(queue) ?? 0;
      if (consumer === undefined || atWork >= (this.#allowed.get(queue) ?? 1)) continue;
      const due = waiting.filter(({ dueMs }) => dueMs <= Date.now()).slice(0, consumer.batchSize);
      if (due.length > 0) void this.#give(queue, consumer, due);
    }
  }

  async #give(queue: string, { maxRetries }: Consumer, batch: readonly Waiting[]): Promise<void> {
    const waiting = this.#waiting.get(queue) ?? [];
    this.#waiting.set(
      queue,
      waiting.filter((message) => !batch.includes(message)),
    );
    this.#atWork.set(queue, (this.#atWork.get(queue) ?? 0) + 1);
    const messages = batch.map(({ id, sentMs, body, attempts }) => ({
      id,
      timestamp: new Date(sentMs),
      body,
      attempts,
    }));
    const outcome = await this.#options.consume(queue, messages).catch(() => "failed" as const);
    this.#atWork.set(queue, (this.#atWork.get(queue) ?? 1) - 1);
    if (this.#isOver) return;
    if (outcome === "failed")
      for (const message of batch)
        if (message.attempts <= maxRetries)
          this.#put(queue, { ...message, attempts: message.attempts + 1, dueMs: Date.now() + RETRY_MS });
    // The number of consumers changes only after a batch has been processed.
    const backlog = (this.#waiting.get(queue) ?? []).length;
    this.#allowed.set(queue, Math.min(MOST_AT_ONCE, 1 + Math.floor(backlog / BACKLOG_A_CONSUMER)));
  }
}
