// `npm run twin -- --put-back`: a copy of the working tree with a defect that the service had is deployed as any deployment of the twin, and a short day is
// played on it. At its end the twin must have said what is wrong, in words that name the defect's symptom.
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
  /** Whether the defect was found; of nothing, whether nothing was. */
  readonly isGood: boolean;
  /** What said so first: of nothing, what should not have been said. */
  readonly sentence: string | undefined;
  /** Seconds of play until it was said, or until the day was over. */
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
/** Characters of a sentence in the table. */
const SHOWN = 120;
const UPGRADED: Combination = {
  name: "upgraded, old objects",
  edge: "this release",
  objects: "the release before",
};
/** How often each act is done under the upgrade, and how long that may take. */
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

/** Ends as soon as the defect is found. */
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

  /** What was found, once something has been. */
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

  /** Without a defect, nothing may be wrong; with one, what else is wrong does not show that it was found. */
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

  /** Under the sales. People work until each act was done, or one could not be. */
  async #upgrade(): Promise<void> {
    this.#options.onProgress("Upgrading under load: the edge has the new code, the objects keep the old ...");
    await this.#options.twin.upgrade();
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

/** A sentence. */
export function outcomeText({ name, isGood, sentence, seconds }: Outcome): string {
  const said = sentence === undefined ? "" : `: ${sentence}`;
  return `${name}: ${verdictOf({ name, isGood })} after ${seconds.toFixed(1)} s of play${said}`;
}

/** A page that is read in a minute. */
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
