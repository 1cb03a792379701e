// Workers crash between any two awaits. Meanwhile endpoints fail, hang, disappear and return, and the queue that wakes the workers loses, duplicates
// and delays messages. In the end every event must have reached every active endpoint, or its delivery must have failed for good after all its
// attempts.
import { eq } from "drizzle-orm";
import { type MerchantId, makeId } from "../../../src/lib/ids.ts";
import { Cancellation } from "../../../src/lib/sleep.ts";
import type { DeliverDependencies } from "../../../src/notifications/deliveries/deliver-webhooks.ts";
import {
  MOST_IN_FLIGHT,
  MOST_WORKERS_OF_MERCHANT,
  POSTS_AT_ONCE,
  ROUND_SIZE,
} from "../../../src/notifications/deliveries/round.ts";
import { wakeDue } from "../../../src/notifications/deliveries/wake-due.ts";
import type { ReceiverAnswer, ReceiverRequest } from "../../../src/notifications/webhooks/receiver-client.ts";
import { webhookSecret } from "../../../src/notifications/webhooks/secret.ts";
import { commit } from "../../../src/platform/db/batch.ts";
import { faultKind } from "../../../src/platform/db/retry.ts";
import { webhooks } from "../../../src/platform/db/schema/webhooks.ts";
import { type EventRow, eventText } from "../../../src/platform/events/event.ts";
import { recordOutbox } from "../../../src/platform/events/store.ts";
import type { Scenario } from "../engine/campaign.ts";
import type { Lab } from "../engine/lab.ts";
import { Client, type Verdict, type World } from "../engine/world.ts";
import { Queue, Receivers } from "./unreliable-receivers.ts";
import { HOOKS, SHOPS } from "./webhook-stock.ts";

const SECRET = webhookSecret(new Uint8Array(32).fill(7));
const SCHEDULE = [0, 5, 30, 60];
const HAPPENINGS = 7;
const CRON_MS = 60_000;
const MOST_CRONS = 1_000;

/** After this many runs the cron runs only every ten minutes, so that a schedule can last for days. */
const CRONS_MINUTELY = 50;

/** Processes one message of the queue. */
export type Deliver = (deps: DeliverDependencies, webhookId: string) => Promise<void>;

/** Acts of merchants during deliveries, whose effects must not be lost. */
class Story {
  isOver = false;
  readonly #lab: Lab;
  readonly #world: World;
  readonly #queue: Queue;
  readonly #receivers: Receivers;
  /** How often a delivery's event had arrived when its redelivery was requested. */
  readonly #redelivered = new Map<string, number>();
  #switchedOn = 0;
  #switchedOff = 0;

  constructor(lab: Lab, world: World, queue: Queue, receivers: Receivers) {
    this.#lab = lab;
    this.#world = world;
    this.#queue = queue;
    this.#receivers = receivers;
  }

  async happen(): Promise<void> {
    const pause = this.#world.sleepOf(new Client(0, () => {}));
    await this.#settle();
    await this.#tell();
    for (let n = 0; n < HAPPENINGS; n++) {
      await this.#world.pick([
        () => this.#tell(),
        () => this.#tell(),
        () => this.#turn(),
        () => this.#turn(),
        () => this.#redeliver(),
        () => this.#switchOn(),
        () => this.#switchOff(),
      ])();
      await pause(this.#world.random() * this.#world.pick([100, 2_000, 20_000, 90_000]));
    }
    // An endpoint that always refuses is disabled after five days, and its deliveries wait.
    const isBroken = this.#world.random() < 0.04;
    for (const { id } of HOOKS)
      this.#receivers.set(id, this.#world.pick(["ok", "is flaky", isBroken ? "refuses" : "ok"]));
    await this.#switchOn();
    this.isOver = true;
  }

  /** Whether no delivery to an active endpoint is pending. */
  isQuiet(): boolean {
    return this.#stuck().length === 0;
  }

  verdict(): Verdict {
    const [problem] = this.#receivers.problems;
    if (problem !== undefined) return problem;
    const [stuck] = this.#stuck();
    if (stuck !== undefined) return `${stuck.id} is stuck, ${stuck.claim === null ? "unclaimed" : "claimed"}`;
    return this.#unfounded() ?? this.#undone() ?? this.#misnumbered() ?? this.#misdisabled();
  }

  /** Sets random limits for each endpoint. */
  async #settle(): Promise<void> {
    for (const { id } of HOOKS) {
      const retryCount = this.#world.pick([0, 2, 9]);
      await this.#db()
        .update(webhooks)
        .set({ retryCount, timeoutMs: this.#world.pick([1_000, 5_000]) })
        .where(eq(webhooks.id, id));
    }
  }

  async #tell(): Promise<void> {
    const merchantId = this.#world.pick<MerchantId>(SHOPS);
    const createdAtMs = this.#world.nowMs;
    // Sometimes more events than may be in flight.
    const count = this.#world.random() < 0.02 ? MOST_IN_FLIGHT + ROUND_SIZE : this.#world.pick([1, 1, 2, 4, 10]);
    const rows = Array.from({ length: count }, (_, n) => {
      const id = makeId("evt", this.#world.newUlid());
      const of = { id, merchantId, type: "ping", invoiceId: null, sequence: null, createdAtMs } as const;
      return { ...of, data: JSON.stringify({ n }) };
    });
    const owed = () => Number(this.#lab.rows("select count(*) n from deliveries")[0]?.n);
    const before = owed();
    const [first, ...others] = recordOutbox(this.#db(), rows);
    if (first !== undefined) await commit(this.#db(), [first, ...others]);
    // Disabled endpoints count too: they get the event once they are enabled again.
    const { length } = HOOKS.filter((hook) => hook.merchantId === merchantId);
    if (owed() - before !== length * count)
      this.#receivers.problems.push(`${count} events are not owed to ${length} endpoints`);
  }

  async #turn(): Promise<void> {
    const { id } = this.#world.pick(HOOKS);
    this.#receivers.set(id, this.#world.pick(["ok", "refuses", "hangs", "is busy", "is gone", "is slow", "is flaky"]));
  }

  /** Redelivers as if requested through the API. */
  async #redeliver(): Promise<void> {
    const done = this.#lab.rows(
      "select id, webhook_id, event_id from deliveries where status <> 'PENDING' order by id",
    );
    const row = done[Math.floor(this.#world.random() * done.length)];
    if (row === undefined) return;
    const id = String(row.id);
    this.#redelivered.set(id, this.#receivers.got(row.webhook_id, row.event_id)?.times ?? 0);
    this.#lab.rows("insert into became (delivery_id, status) values (?, 'REDELIVERED')", id);
    this.#lab.rows(
      "update deliveries set status = 'PENDING', step = 0, claim = null, next_attempt_ms = ? where id = ?",
      this.#world.nowMs,
      id,
    );
    this.#queue.put(String(row.webhook_id));
  }

  /** Changes an endpoint as a user does, which emits no event. */
  async #switchOff(): Promise<void> {
    const { id } = this.#world.pick(HOOKS);
    const off = this.#lab.rows(
      "update webhooks set is_active = 0, disabled_at_ms = ? where id = ? and is_active = 1 returning id",
      this.#world.nowMs,
      id,
    );
    this.#switchedOff += off.length;
  }

  async #switchOn(): Promise<void> {
    const off = this.#lab.rows("select id from webhooks where is_active = 0");
    for (const { id } of off) {
      this.#switchedOn++;
      this.#lab.rows(
        `update webhooks set is_active = 1, failures_in_row = 0, failing_since_ms = null, probe_at_ms = null,
          disabled_reason = null, disabled_at_ms = null where id = ?`,
        String(id),
      );
      this.#queue.put(String(id));
    }
  }

  #stuck() {
    return this.#lab.rows(
      `select own.id, own.claim from deliveries own join webhooks hook on hook.id = own.webhook_id
        where own.status = 'PENDING' and hook.is_active = 1`,
    );
  }

  /** Finds a false success, an attempt that no receiver saw, or an event whose text differs from the row's. */
  #unfounded(): Verdict {
    const rows = this.#lab.rows(
      `select own.id, own.webhook_id hook, own.status, own.step, hook.retry_count, event.id event, event.type, event.data,
        event.merchant_id merchant, event.created_at_ms created,
        (select count(*) from delivery_attempts where delivery_id = own.id and status_code is not null) answered
        from deliveries own join webhooks hook on hook.id = own.webhook_id join events event on event.id = own.event_id`,
    );
    for (const row of rows) {
      const got = this.#receivers.got(row.hook, row.event);
      const text = eventText({
        id: row.event,
        type: row.type,
        merchantId: row.merchant,
        sequence: null,
        data: row.data,
        createdAtMs: row.created,
      } as EventRow);
      if (got !== undefined && got.body !== text) return `${row.id} came with another text than the event's`;
      if (row.status === "SUCCEEDED" && !got?.isAccepted) return `${row.id} succeeded and nobody accepted it`;
      if (Number(row.answered) > (got?.times ?? 0)) return `${row.id} has more answers than it was sent`;
      if (row.status === "FAILED" && Number(row.step) !== Number(row.retry_count) + 1)
        return `${row.id} failed after ${row.step} attempts`;
      const before = this.#redelivered.get(String(row.id));
      if (row.status === "SUCCEEDED" && before !== undefined && (got?.times ?? 0) <= before)
        return `${row.id} was to be delivered again and was not`;
    }
    return undefined;
  }

  /** A success is final, unless a redelivery is requested. */
  #undone(): Verdict {
    const [undone] = this.#lab.rows(
      `select first.delivery_id from became first join became then_ on then_.delivery_id = first.delivery_id and then_.n > first.n
        where first.status = 'SUCCEEDED' and then_.status <> 'REDELIVERED' and not exists (select 1 from became between_
          where between_.delivery_id = first.delivery_id and between_.n > first.n and between_.n < then_.n)`,
    );
    return undone === undefined ? undefined : `${undone.delivery_id} succeeded and then did not`;
  }

  #misnumbered(): Verdict {
    const [row] = this.#lab.rows(
      `select own.id, own.attempts, count(made.number) made, max(made.number) last from deliveries own
        left join delivery_attempts made on made.delivery_id = own.id
        group by own.id having made <> own.attempts or coalesce(last, 0) <> own.attempts`,
    );
    return row === undefined
      ? undefined
      : `${row.id} has ${row.made} attempts up to ${row.last} and says ${row.attempts}`;
  }

  /** Each time an endpoint is disabled without a user's request, this must be reported once, to the audit log and to the other endpoints. */
  #misdisabled(): Verdict {
    const [row] = this.#lab.rows(
      `select (select count(*) from events where type = 'webhook.endpoint_disabled') told,
        (select count(*) from audit_events where action = 'webhook.updated') entries,
        (select count(*) from webhooks where is_active = 0) off`,
    );
    const ends = Number(row?.off) + this.#switchedOn - this.#switchedOff;
    if (row?.told === ends && row.entries === ends) return undefined;
    return `${ends} ends of endpoints, ${row?.told} events and ${row?.entries} entries`;
  }

  #db() {
    return this.#lab.db(
      async (_, work) => work(),
      (ids) => {
        for (const id of ids) this.#queue.put(id);
      },
    );
  }
}

export function deliverScenario(lab: Lab, name: string, deliver: Deliver): Scenario {
  return {
    name,
    lab,
    faultChance: 0.12,
    maxSteps: 30_000,
    start(world) {
      const receivers = new Receivers(world);
      const bugs: unknown[] = [];
      const fail = (error: unknown) => {
        if (faultKind(error) === "other") bugs.push(error);
      };
      const launch = (webhookId: string): void => {
        // A message whose worker crashed is redelivered, or lost.
        const client = world.client(() => {
          if (world.random() < 0.5) queue.put(webhookId, 1);
        });
        deliver(worker({ lab, world, client, queue, receivers }), webhookId).catch(fail);
      };
      const queue = new Queue(world, launch);
      const story = new Story(lab, world, queue, receivers);
      const wakeAllDue = (): void => {
        const effect = world.effectOf(world.client(() => {}));
        const wakeAll = (ids: readonly string[]) => effect("queue", () => ids.forEach((id) => void queue.put(id)));
        wakeDue({ db: lab.db(effect), nowMs: world.nowMs, wakeAll }).catch(fail);
      };
      const watch = async (): Promise<void> => {
        const pause = world.sleepOf(new Client(0, () => {}));
        for (let n = 0; n < MOST_CRONS; n++) {
          await pause(CRON_MS * (n < CRONS_MINUTELY ? 1 : 10) * (1 + world.random()));
          if (story.isOver && story.isQuiet()) return;
          // Runs may overlap.
          for (let runs = world.pick([1, 2]); runs > 0; runs--) wakeAllDue();
        }
      };
      story.happen().catch((error: unknown) => bugs.push(error));
      watch().catch((error: unknown) => bugs.push(error));
      return () => {
        if (bugs.length > 0) return `a bug: ${bugs[0] instanceof Error ? bugs[0].stack : bugs[0]}`;
        const doubled = world.hits.size === 0 ? doubles(lab, receivers) : undefined;
        return story.verdict() ?? doubled;
      };
    },
  };
}

/** If nothing was lost, every send must have been recorded. */
function doubles(lab: Lab, receivers: Receivers): Verdict {
  const rows = lab.rows("select id, webhook_id, event_id, attempts from deliveries");
  const row = rows.find((each) => (receivers.got(each.webhook_id, each.event_id)?.times ?? 0) > Number(each.attempts));
  return row === undefined ? undefined : `${row.id} was sent more often than ${row.attempts} times`;
}

interface WorkerOf {
  readonly lab: Lab;
  readonly world: World;
  readonly client: Client;
  readonly queue: Queue;
  readonly receivers: Receivers;
}

/** The effects of one invocation. Each of its calls is a step that may fail, stall, be repeated or be the last one. */
function worker({ lab, world, client, queue, receivers }: WorkerOf): DeliverDependencies {
  const effect = world.effectOf(client);
  const sleep = world.sleepOf(client);
  const wakeAll = (ids: readonly string[]) => ids.forEach((id) => void queue.put(id));
  let underWay = 0;
  const post = async (request: ReceiverRequest): Promise<ReceiverAnswer> => {
    if (++underWay > POSTS_AT_ONCE) receivers.problems.push(`${underWay} POSTs at once`);
    const [held] = lab.rows(
      "select count(*) n from deliveries where webhook_id = ? and status = 'PENDING' and claim is not null and next_attempt_ms > ?",
      request.headers["x-webhook-id"] ?? "",
      world.nowMs,
    );
    if (Number(held?.n) > MOST_IN_FLIGHT) receivers.problems.push(`${held?.n} deliveries in flight`);
    const [crowd] = lab.rows(
      `select count(distinct substr(claim, 1, 26)) n from deliveries where claim is not null and next_attempt_ms > ?
        group by merchant_id order by n desc`,
      world.nowMs,
    );
    if (Number(crowd?.n) > MOST_WORKERS_OF_MERCHANT) receivers.problems.push(`${crowd?.n} workers of one merchant`);
    const answer = await answerTo(request);
    underWay--;
    return answer;
  };
  const answerTo = async (request: ReceiverRequest): Promise<ReceiverAnswer> => {
    const startMs = world.nowMs;
    const over = new Cancellation();
    const noAnswer = (error: NonNullable<ReceiverAnswer["error"]>): ReceiverAnswer => {
      return { statusCode: null, error, latencyMs: world.nowMs - startMs, response: null, retryAfter: null };
    };
    const late = sleep(request.timeoutMs, over).then(() => noAnswer("TIMEOUT"));
    const heard = async (): Promise<ReceiverAnswer> => {
      try {
        const { status, afterMs } = await effect("post", () => receivers.receive(request));
        if (afterMs > 0) await sleep(afterMs);
        if (status === null) return await late;
        const retryAfter = status === 429 ? "20" : null;
        return { statusCode: status, error: null, latencyMs: world.nowMs - startMs, response: "", retryAfter };
      } catch {
        return noAnswer("CONNECTION_FAILED");
      }
    };
    const answer = await Promise.race([heard(), late]);
    over.cancel();
    return answer;
  };
  return {
    db: lab.db(effect, wakeAll),
    sleep,
    nowMs: () => world.nowMs,
    random: world.random,
    newUlid: () => world.newUlid(),
    schedule: SCHEDULE,
    rules: { isLoopbackOpen: false },
    resolve: async () => {
      try {
        return await effect("resolve", () => ({ kind: "public", addresses: ["192.0.2.1"] }) as const);
      } catch {
        return { kind: "unknown", why: "nobody answered" };
      }
    },
    post,
    open: async (secrets) => {
      if (world.random() < 0.02) throw new Error("its key is gone for now");
      return secrets.map(() => SECRET);
    },
    wake: (webhookId: string, delaySeconds: number) => effect("queue", () => queue.put(webhookId, delaySeconds)),
    mailer: { post: async () => {} },
    report: () => {},
  };
}
