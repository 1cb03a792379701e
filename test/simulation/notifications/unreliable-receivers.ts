// Endpoints that fail, hang, disappear and return, and a queue that loses, duplicates and delays.
import type { ReceiverRequest } from "../../../src/notifications/webhooks/receiver-client.ts";
import { Client, type World } from "../engine/world.ts";

type Mode = "ok" | "refuses" | "hangs" | "is busy" | "is gone" | "is slow" | "is flaky";

/** The servers of all endpoints. */
export class Receivers {
  readonly problems: string[] = [];
  readonly #world: World;
  readonly #modes = new Map<string, Mode>();
  /** What arrived, by endpoint and event: its text, how often it came, and whether it was accepted. */
  readonly #got = new Map<string, { readonly body: string; times: number; isAccepted: boolean }>();

  constructor(world: World) {
    this.#world = world;
  }

  set(hookId: string, mode: Mode): void {
    this.#modes.set(hookId, mode);
  }

  got(hookId: unknown, eventId: unknown) {
    return this.#got.get(`${hookId} ${eventId}`);
  }

  receive({ headers, body }: ReceiverRequest): { readonly status: number | null; readonly afterMs: number } {
    const eventId = headers["webhook-id"];
    const key = `${headers["x-webhook-id"]} ${eventId}`;
    const before = this.#got.get(key);
    if (before !== undefined && before.body !== body) this.problems.push(`${key} came with two texts`);
    if (JSON.parse(body).id !== eventId) this.problems.push(`${key} came with the text of another event`);
    const { status, afterMs } = this.#answer(headers["x-webhook-id"] ?? "");
    const isAccepted = (before?.isAccepted ?? false) || status === 200;
    this.#got.set(key, { body, times: (before?.times ?? 0) + 1, isAccepted });
    return { status, afterMs };
  }

  #answer(hookId: string): { readonly status: number | null; readonly afterMs: number } {
    const mode = this.#modes.get(hookId) ?? "ok";
    const { random } = this.#world;
    switch (mode) {
      case "ok":
        return { status: 200, afterMs: 0 };
      case "refuses":
        return { status: 500, afterMs: 0 };
      case "hangs":
        return { status: null, afterMs: 0 };
      case "is busy":
        return { status: 429, afterMs: 0 };
      case "is gone":
        return { status: random() < 0.2 ? 410 : 500, afterMs: 0 };
      case "is slow":
        return { status: 200, afterMs: random() * 1_500 };
      case "is flaky":
        return { status: random() < 0.6 ? 200 : 503, afterMs: 0 };
    }
  }
}

/** A queue that loses, duplicates and delays messages. */
export class Queue {
  readonly #world: World;
  readonly #launch: (webhookId: string) => void;

  constructor(world: World, launch: (webhookId: string) => void) {
    this.#world = world;
    this.#launch = launch;
  }

  put(webhookId: string, delaySeconds = 0): void {
    const { random } = this.#world;
    const times = this.#world.pick([1, 1, 1, 1, 1, 1, 0, 2]);
    for (let n = 0; n < times; n++) {
      const late = random() < 0.1 ? random() * 90_000 : random() * 100;
      const pause = this.#world.sleepOf(new Client(0, () => {}));
      void pause(delaySeconds * 1_000 + late).then(() => this.#launch(webhookId));
    }
  }
}
