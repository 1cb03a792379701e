// The watcher of one network, named after it. Its alarm starts each pass. The alarm is set again before anything is done, so that a crash
// cannot stop it, and deleted when nothing is watched. Everything that must outlive the object is in D1.
import { DurableObject } from "cloudflare:workers";
import { type Network, networkNamed } from "../../chains/registry/networks.ts";
import type { CodeAnswer } from "../../commerce/wallets/network-offer.ts";
import { logAlert, safeMessage } from "../../lib/log.ts";
import { logWork, NO_COST } from "../../lib/work-log.ts";
import { pauseMs } from "../passes/cursor-plan.ts";
import { type LookOutcome, lookForClaim } from "../passes/look-for-claim.ts";
import { lookForCode } from "../passes/look-for-code.ts";
import { type LookUpOutcome, lookForMerchant, type NamedTransaction } from "../passes/look-for-merchant.ts";
import { type WatchDependencies, WatchMemory } from "../passes/watch-pass.ts";
import { pollSecondsOf, watchDependencies } from "./dependencies.ts";
import { type PassOutcome, runPass } from "./watch-network.ts";

export class NetworkWatcher extends DurableObject<Env> {
  readonly #network: Network;
  readonly #memory = new WatchMemory();
  readonly #deps: WatchDependencies;
  readonly #pollSeconds: number | null;
  #running: Promise<PassOutcome> | undefined;
  /** `wake` was called during a pass, which may have read the chain too early. */
  #isWoken = false;

  /** Tests pass other `dependencies`. */
  constructor(ctx: DurableObjectState, env: Env, dependencies: typeof watchDependencies = watchDependencies) {
    super(ctx, env);
    const network = networkNamed(ctx.id.name ?? "");
    if (network === undefined) throw new Error("an object is addressed by its name");
    this.#network = network;
    this.#deps = dependencies(env, network);
    this.#pollSeconds = pollSecondsOf(env);
  }

  /** Starts a pass soon, unless one is due anyway. */
  async wake(): Promise<void> {
    this.#isWoken = true;
    const { storage } = this.ctx;
    const nextMs = await storage.getAlarm();
    const soonestMs = Date.now() + pauseMs(this.#network, this.#pollSeconds, false);
    if (nextMs === null || nextMs > soonestMs) await storage.setAlarm(Date.now());
  }

  look(txHash: string): Promise<LookOutcome> {
    return lookForClaim(this.#deps, this.#network, this.#memory, txHash);
  }

  async lookUp(named: NamedTransaction): Promise<LookUpOutcome> {
    const outcome = await lookForMerchant(this.#deps, this.#network, named);
    if (outcome === "FOUND") await this.wake();
    return outcome;
  }

  codeAt(address: string): Promise<CodeAnswer> {
    return lookForCode(this.#deps, this.#network, address);
  }

  /** Runs one whole pass, after the one that may be running. */
  async runNow(): Promise<PassOutcome> {
    await this.#running;
    return this.#pass();
  }

  override async alarm(): Promise<void> {
    const { storage } = this.ctx;
    this.#isWoken = false;
    await storage.setAlarm(Date.now() + pauseMs(this.#network, this.#pollSeconds, false));
    const outcome = await this.#pass();
    const isBusy = (outcome.kind === "read" && outcome.isBehind) || (outcome.kind === "resting" && outcome.isRereading);
    if (!isBusy && (outcome.kind === "resting" || outcome.kind === "paused") && !this.#isWoken)
      await storage.deleteAlarm();
    else if (isBusy) await storage.setAlarm(Date.now() + pauseMs(this.#network, this.#pollSeconds, true));
  }

  /** Runs at most one pass at a time; a second caller waits for the same pass. Never throws. */
  async #pass(): Promise<PassOutcome> {
    this.#running ??= this.#runPass();
    return this.#running;
  }

  async #runPass(): Promise<PassOutcome> {
    const { meter } = this.#deps;
    const [beganMs, before] = [Date.now(), meter?.cost ?? NO_COST];
    const outcome = await this.#outcome();
    const facts = { network: this.#network.name, outcome: outcome.kind };
    const cost = meter?.since(before) ?? NO_COST;
    const isFault = outcome.kind === "interrupted";
    logWork({ work: "pass", ms: Date.now() - beganMs, cost, isFault, facts }, this.env, Math.random());
    return outcome;
  }

  async #outcome(): Promise<PassOutcome> {
    try {
      return await runPass(this.#deps, this.#network, this.#memory);
    } catch (error) {
      // A bug or an unknown fault: the next pass starts from the same state.
      logAlert("a watcher's pass failed", { network: this.#network.name, what: safeMessage(error) });
      return { kind: "interrupted" };
    } finally {
      this.#running = undefined;
    }
  }
}
