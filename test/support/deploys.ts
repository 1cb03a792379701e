// Runs `npm run deploy` in its own folder, against the wrangler stand-in.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { readConfiguration } from "../../scripts/deploy/configuration.ts";
import { deploy } from "../../scripts/deploy/run.ts";
import type { Surroundings } from "../../scripts/deploy/surroundings.ts";
import { type AccountState, EMPTY_ACCOUNT, readAccount, standIn, writeAccount } from "./wrangler-stand-in.ts";

const ROOT = resolve(import.meta.dirname, "../..");
/** A fixed time: noon on a day in November 2026. */
export const NOW_MS = 1_795_435_200_000;

export const BASE = readConfiguration(join(ROOT, "wrangler.toml"));

export interface Operator {
  readonly folder: string;
  /** Runs the command and answers its questions in order; if there are no answers, it gets no terminal. */
  deploy(args: readonly string[], answers?: readonly string[]): Promise<Ended>;
  account(): AccountState;
  change(change: Partial<AccountState>): void;
  leave(): void;
}

interface Ended {
  readonly status: number;
  readonly printed: string;
  /** The questions that the command asked. */
  readonly asked: readonly string[];
  /** The wrangler commands that this run used. */
  readonly commands: readonly string[];
}

export function newOperator(surroundings: Partial<Surroundings> = {}): Operator {
  const folder = mkdtempSync(join(tmpdir(), "edgetill-operator-"));
  writeAccount(folder, EMPTY_ACCOUNT);
  writeFileSync(join(folder, "wrangler-toml.json"), JSON.stringify(BASE));
  return {
    folder,
    deploy: (args, answers) => runDeploy(folder, surroundings, args, answers),
    account: () => readAccount(folder),
    change: (change) => writeAccount(folder, { ...readAccount(folder), ...change }),
    leave: () => rmSync(folder, { recursive: true, force: true }),
  };
}

export function surroundingsIn(folder: string, print: (text: string) => void): Surroundings {
  return {
    root: folder,
    wrangler: standIn,
    environment: { PATH: process.env.PATH },
    print,
    ask: undefined,
    base: BASE,
    isTaken: async () => false,
    // Tests must not send requests to vendors. Tests that try sources use stand-ins (`vendor-stand-ins.ts`).
    vendors: {
      fetch: () => Promise.reject(new Error("a test reaches no vendor")),
      timeoutMs: 1_000,
      probeMs: 5_000,
    },
    buildAssets: async () => {},
    nowMs: () => NOW_MS,
  };
}

async function runDeploy(
  folder: string,
  more: Partial<Surroundings>,
  args: readonly string[],
  answers: readonly string[] | undefined,
): Promise<Ended> {
  let printed = "";
  const asked: string[] = [];
  const left = [...(answers ?? [])];
  const ask = async (question: string) => {
    asked.push(question);
    const answer = left.shift();
    if (answer === undefined) throw new Error(`no answer to: ${question}`);
    return answer;
  };
  const before = readAccount(folder).commands.length;
  const base = surroundingsIn(folder, (text) => {
    printed += text;
  });
  const status = await deploy(args, { ...base, ask: answers === undefined ? undefined : ask, ...more });
  return { status, printed, asked, commands: readAccount(folder).commands.slice(before) };
}
