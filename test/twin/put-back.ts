// `npm run twin -- --put-back` deploys a copy of the working tree with a known defect and runs a short day on it. The twin must then report a problem
// whose text matches the defect's symptom.
import { setTimeout as sleep } from "node:timers/promises";
import type { EvmChain } from "../../scripts/demo-story/evm-chain.ts";
import { randomFrom } from "../support/random.ts";
import { Day } from "./day.ts";
import { DEFECTS, type Defect, type DefectName, PACE, RELEASE_BEFORE } from "./defects.ts";
import { openTwin, type Twin } from "./deployment.ts";
import { EditedTree } from "./edited-tree.ts";
import { type Combination, Hands } from "./hands.ts";
import { oneAddress } from "./one-address.ts";
import { answersOf, MAIL_PROVIDER } from "./releases.ts";
import { wrongOf } from "./report.ts";
import { rushesOf } from "./rush.ts";
import { USUAL } from "./weather.ts";

export interface Outcome {
  readonly name: DefectName;
  /** Whether the defect was found; without a defect, whether nothing was found. */
  readonly isGood: boolean;
  /** The first finding that names the defect; without a defect, the first false finding. */
  readonly sentence: string | undefined;
  /** Seconds from the start of the day to that finding, or to the end of the day. */
  readonly seconds: number;
}

interface PutBackOptions {
  readonly chain: EvmChain;
  readonly seed: number;
  readonly onProgress: (line: string) => void;
}

const SALES = { shops: 3, rate: 4, mostOpen: 8, paid: 0.3, cancelled: 0.2, expired: 0.3, lifeSeconds: 5 };
const WEATHER = { ...USUAL, faults: 0.002 };
const CRON_EVERY_MS = 3_000;
const LOOK_EVERY_MS = 250;
/** How many characters of a sentence the table shows. */
const SHOWN = 120;
const UPGRADED: Combination = {
  name: "upgraded, old objects",
  edge: "this release",
  objects: "the release before",
};
/** How often each action is done during the upgrade, and the time limit for all of them. */
const ACTS = { times: 1, withinMs: 120_000 };

export async function putBack(name: DefectName, { chain, seed, onProgress }: PutBackOptions): Promise<Outcome> {
  const defect: Defect = DEFECTS[name];
  onProgress(`${name}: ${defect.says}`);
  const tree = new EditedTree();
  const deployment = `shop-${process.pid}`;
  const newest = [...PACE, ...defect.edits];
  try {
    tree.become(defect.plan.isUpgraded ? [...PACE, ...RELEASE_BEFORE] : newest);
    const twin = await openTwin({
      name: deployment,
      sources: tree.folder,
      secrets: { MAIL_PROVIDER },
      weather: { ...WEATHER, faults: 0 },
      chainUrl: chain.url,
      random: randomFrom(seed),
      manners: { twice: 0.1, latestMs: 500 },
      cronEveryMs: CRON_EVERY_MS,
      variables: { POLL_SECONDS: "1", RATE_LIMIT_PER_MINUTE: "100000", ...answersOf(deployment) },
    });
    try {
      tree.become(newest);
      if (defect.plan.isUpgraded) await twin.upload();
      const owner = await twin.setUp();
      const found = await new PutBackDay(defect, { twin, owner, chain, seed, onProgress }).play();
      return { name, isGood: (found.sentence !== undefined) === (defect.symptom !== undefined), ...found };
    } finally {
      await twin.stop();
    }
  } finally {
    tree.remove();
  }
}

interface DayOptions extends PutBackOptions {
  readonly twin: Twin;
  /** The headers of a user who has just set the deployment up. */
  readonly owner: Readonly<Record<string, string>>;
}

/** A day that ends as soon as the defect is found. */
class PutBackDay {
  readonly #defect: Defect;
  readonly #options: DayOptions;
  readonly #day: Day;
  readonly #hands: Hands;
  readonly #wrong: string[] = [];
  #beganMs = 0;
  #found: Pick<Outcome, "sentence" | "seconds"> | undefined;
  #onFound = () => {};

  constructor(defect: Defect, options: DayOptions) {
    const { twin, owner, chain, seed, onProgress } = options;
    this.#defect = defect;
    this.#options = options;
    this.#day = new Day(twin, chain, {
      ...SALES,
      seconds: 0,
      settleMs: defect.plan.settleSeconds * 1_000,
      hasPeople: false,
      random: randomFrom(seed + 1),
      onProgress,
    });
    this.#hands = new Hands({ twin, owner, shops: this.#day.shops });
  }

  async play(): Promise<Pick<Outcome, "sentence" | "seconds">> {
    const { plan } = this.#defect;
    await this.#day.open(this.#options.owner);
    this.#beganMs = Date.now();
    const looking = setInterval(() => this.#look(), LOOK_EVERY_MS);
    try {
      for (const part of [this.#rush, this.#fromOneAddress, this.#sell, this.#close])
        if (this.#look() === undefined) await part.call(this, plan);
      return this.#look() ?? { sentence: this.#unmeant(), seconds: this.#secondsNow() };
    } finally {
      clearInterval(looking);
    }
  }

  /** The finding that names the defect, once there is one. */
  #look(): Pick<Outcome, "sentence" | "seconds"> | undefined {
    const { symptom } = this.#defect;
    const sentence = symptom && this.#all().find((each) => symptom.test(each));
    if (sentence !== undefined) this.#found ??= { sentence, seconds: this.#secondsNow() };
    if (this.#found !== undefined) this.#onFound();
    return this.#found;
  }

  #all(): readonly string[] {
    return [...this.#wrong, ...this.#hands.wrong, ...wrongOf(this.#options.twin)];
  }

  /** Without a defect, any finding is a false alarm. With a defect, a finding that does not match its symptom does not count. */
  #unmeant(): string | undefined {
    for (const each of this.#all()) this.#options.onProgress(`  said: ${each}`);
    return this.#defect.symptom === undefined ? this.#all()[0] : undefined;
  }

  #secondsNow(): number {
    return (Date.now() - this.#beganMs) / 1_000;
  }

  async #rush({ isRushed }: Defect["plan"]): Promise<void> {
    if (isRushed) this.#wrong.push(...(await rushesOf(this.#day, this.#options.twin.gate)).wrong);
  }

  async #fromOneAddress({ hasOneAddress }: Defect["plan"]): Promise<void> {
    const [shop] = this.#day.shops;
    if (hasOneAddress && shop !== undefined) this.#wrong.push(...(await oneAddress(this.#options.twin, shop)));
  }

  async #sell({ seconds, resets = 0, isUpgraded }: Defect["plan"]): Promise<void> {
    const { twin } = this.#options;
    twin.gate.weather = WEATHER;
    await twin.setObjectFaults({ faults: 0.002, resets });
    await this.#day.play(async () => {
      const endMs = Date.now() + seconds * 1_000;
      while (this.#found === undefined && Date.now() < endMs) await sleep(LOOK_EVERY_MS);
      await twin.setObjectFaults({ faults: 0, resets: 0 });
      if (isUpgraded) await this.#upgrade();
    });
  }

  /** Upgrades during the sales. Members work until every action has been done, the time is up or the defect is found. */
  async #upgrade(): Promise<void> {
    this.#options.onProgress("Upgrading under load: the edge has the new code, the objects keep the old ...");
    // The default strategy of a deploy. An immediate switch would leave too little time for the actions.
    await this.#options.twin.upgrade(undefined, "deferred");
    this.#hands.combination = UPGRADED;
    this.#hands.start();
    const done = this.#hands.until(UPGRADED, ACTS.times, ACTS.withinMs);
    await Promise.race([done, this.#untilFound()]);
    await this.#hands.stop();
  }

  #untilFound(): Promise<void> {
    return new Promise((end) => {
      this.#onFound = end;
    });
  }

  async #close(): Promise<void> {
    this.#options.onProgress("The day is over. Waiting for what was paid to be seen, and for every event to come ...");
    this.#wrong.push(...(await this.#day.close()).wrong);
  }
}

export function outcomeText({ name, isGood, sentence, seconds }: Outcome): string {
  const said = sentence === undefined ? "" : `: ${sentence}`;
  return `${name}: ${verdictOf({ name, isGood })} after ${seconds.toFixed(1)} s of play${said}`;
}

export function putBackTable(outcomes: readonly Outcome[]): string {
  const wide = Math.max(...outcomes.map(({ name }) => name.length));
  const rows = outcomes.map(({ name, isGood, sentence, seconds }) => {
    const found = verdictOf({ name, isGood });
    return `  ${name.padEnd(wide)}  ${found.padEnd(13)} ${seconds.toFixed(1).padStart(6)} s  ${(sentence ?? "").slice(0, SHOWN)}`.trimEnd();
  });
  const bad = outcomes.filter(({ isGood }) => !isGood);
  return [
    "",
    `  ${"put back".padEnd(wide)}  ${"".padEnd(13)} ${"played".padStart(8)}  what said so first`,
    ...rows,
    "",
    bad.length === 0
      ? "Each defect is found, and without one nothing is wrong."
      : `WRONG: ${bad.map(({ name }) => name).join(", ")}.`,
    "",
  ].join("\n");
}

function verdictOf({ name, isGood }: Pick<Outcome, "name" | "isGood">): string {
  if (DEFECTS[name].symptom === undefined) return isGood ? "nothing found" : "WRONG";
  return isGood ? "found" : "NOT FOUND";
}
