// The watcher of one network, named after it. Its alarm starts each pass. The alarm is set again before anything is done, so that a crash cannot stop
// it, and deleted when nothing is watched. What must outlive the object is in D1, except the alarm and the times of trials, which are in the object's
// storage.
import { DurableObject } from "cloudflare:workers";
import { type Network, networkNamed } from "../../chains/registry/networks.ts";
import type { CodeAnswer } from "../../commerce/wallets/network-offer.ts";
import { logAlert, safeMessage } from "../../lib/log.ts";
import { logWork, NO_COST } from "../../lib/work-log.ts";
import { pauseMs } from "../passes/cursor-plan.ts";
import { type LookOutcome, lookForClaim } from "../passes/look-for-claim.ts";
import { lookForCode } from "../passes/look-for-code.ts";
import { type LookUpOutcome, lookForMerchant, type NamedTransaction } from "../passes/look-for-merchant.ts";
import { takeTrial } from "../passes/trial-limit.ts";
import { type TrialOutcome, trySources } from "../passes/try-sources.ts";
import { type WatchDependencies, WatchMemory } from "../passes/watch-pass.ts";
import { pollSecondsOf, watchDependencies } from "./dependencies.ts";
import { type PassOutcome, runPass } from "./watch-network.ts";

export class NetworkWatcher extends DurableObject<Env> {
  readonly #network: Network;
  readonly #memory = new WatchMemory();
  readonly #deps: WatchDependencies;
  readonly #pollSeconds: number | null;
  #running: Promise<PassOutcome> | undefined;
  #trial: Promise<TrialOutcome> | undefined;
  /** Whether `wake` was called during a pass: the pass may have read the chain before the change that caused the call. */
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

  /** Starts a pass soon, unless one is already scheduled soon. */
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

  /** Tries each source now. Callers that ask while a trial is running share it. */
  async trySources(): Promise<TrialOutcome> {
    this.#trial ??= this.#tryUnlessLimited();
    return this.#trial;
  }

  /** The times of trials are stored, because an idle object loses its memory within the minute. */
  async #tryUnlessLimited(): Promise<TrialOutcome> {
    const { storage } = this.ctx;
    try {
      const { times, waitSeconds } = takeTrial((await storage.get<readonly number[]>("trials")) ?? [], Date.now());
      if (waitSeconds > 0) return { kind: "LIMITED", waitSeconds };
      await storage.put("trials", times);
      return await trySources(this.#deps, this.#network);
    } finally {
      this.#trial = undefined;
    }
  }

  codeAt(address: string): Promise<CodeAnswer> {
    return lookForCode(this.#deps, this.#network, address);
  }

  /** Waits for the pass that may be running, and then runs a whole one. */
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
