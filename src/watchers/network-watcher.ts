// The watcher of one network, named by it. Its alarm is the clock: armed again before anything is done, so that no crash strands it, and taken
// off when nothing is watched (reliability.md 4). All that must survive it is in D1.
import { DurableObject } from "cloudflare:workers";
import { type Network, networkNamed } from "../chains/networks.ts";
import { type WatchEffects, WatchMemory } from "./commit-cursor.ts";
import { pauseMs } from "./cursor-plan.ts";
import { pollSecondsOf, watchEffects } from "./effects.ts";
import { type LookOutcome, lookTransaction } from "./look-transaction.ts";
import { type PassOutcome, runPass } from "./watch-network.ts";

/** What others ask of a watcher. */
export interface WatcherRpc {
  wake(): Promise<void>;
  look(txHash: string): Promise<LookOutcome>;
}

export class NetworkWatcher extends DurableObject<Env> {
  readonly #network: Network;
  readonly #memory = new WatchMemory();
  readonly #fx: WatchEffects;
  readonly #pollSeconds: number | null;
  #running: Promise<PassOutcome> | undefined;
  /** Somebody woke it while a pass was on its way, which may have looked before there was something to see. */
  #isWoken = false;

  /** `effects` gives it another world. */
  constructor(ctx: DurableObjectState, env: Env, effects: typeof watchEffects = watchEffects) {
    super(ctx, env);
    const network = networkNamed(ctx.id.name ?? "");
    if (network === undefined) throw new Error("a watcher is reached by the name of its network, never by a bare id");
    this.#network = network;
    this.#fx = effects(env, network);
    this.#pollSeconds = pollSecondsOf(env);
  }

  /** Looks soon, unless a look is due anyway. */
  async wake(): Promise<void> {
    this.#isWoken = true;
    const { storage } = this.ctx;
    const nextMs = await storage.getAlarm();
    const soonestMs = Date.now() + pauseMs(this.#network, this.#pollSeconds, false);
    if (nextMs === null || nextMs > soonestMs) await storage.setAlarm(Date.now());
  }

  look(txHash: string): Promise<LookOutcome> {
    return lookTransaction(this.#fx, this.#network, this.#memory, txHash);
  }

  /** One whole pass, after the one that may be on its way. */
  async runNow(): Promise<PassOutcome> {
    await this.#running;
    return this.#pass();
  }

  override async alarm(): Promise<void> {
    const { storage } = this.ctx;
    this.#isWoken = false;
    await storage.setAlarm(Date.now() + pauseMs(this.#network, this.#pollSeconds, false));
    const outcome = await this.#pass();
    if (outcome.kind === "resting" && !this.#isWoken) await storage.deleteAlarm();
    else if (outcome.kind === "read" && outcome.isBehind)
      await storage.setAlarm(Date.now() + pauseMs(this.#network, this.#pollSeconds, true));
  }

  /** At most one at a time; who comes second waits for it. Never throws. */
  async #pass(): Promise<PassOutcome> {
    this.#running ??= this.#runPass();
    return this.#running;
  }

  async #runPass(): Promise<PassOutcome> {
    try {
      return await runPass(this.#fx, this.#network, this.#memory);
    } catch (error) {
      // A bug, or a fault nobody named: the next pass begins where this one did. A failed query's own message holds what was bound.
      const what =
        error instanceof Error && !error.message.startsWith("Failed query") ? error.message : "a query failed";
      console.error(
        JSON.stringify({ level: "error", alert: "a watcher's pass failed", network: this.#network.name, what }),
      );
      return { kind: "interrupted" };
    } finally {
      this.#running = undefined;
    }
  }
}
