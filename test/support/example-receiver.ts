// The receivers that integrators copy (docs/examples/receiver.*), each run as a separate process.
import { type ChildProcess, spawn } from "node:child_process";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { findFreePort } from "../../scripts/free-port.ts";
import { PYTHON } from "./interpreters.ts";

export const EXAMPLE_LANGUAGES = ["TypeScript", "Python"] as const;
type ExampleLanguage = (typeof EXAMPLE_LANGUAGES)[number];

interface ExampleOptions {
  readonly language: ExampleLanguage;
  /** WEBHOOK_SECRET, verbatim. */
  readonly secret: string;
  /** The file for RECEIVER_STATE. */
  readonly state: string;
  /** Any free port by default. */
  readonly port?: number;
}

export interface ExampleReceiver {
  /** The URL to register. */
  readonly url: string;
  /** Everything it printed, including its first two lines. */
  readonly lines: readonly string[];
  /** Waits for a line that contains the text and returns it; on a timeout throws with everything printed. */
  line(text: string): Promise<string>;
  /** Ends the process without a chance to clean up; may be called twice. */
  kill(): Promise<void>;
}

const LINE_WITHIN_MS = 120_000;
const MISSING = "(no python3 here: npm run nodes:install brings it)";
const FOLDER = resolve(import.meta.dirname, "../../docs/examples");

/** Whether an example's tests run: without Python they are skipped, except in CI, where they fail. */
export function isExampleTested(language: ExampleLanguage): boolean {
  return language === "TypeScript" || PYTHON !== undefined || Boolean(process.env.CI);
}

/** The example's name for titles, with the reason if its tests are skipped. */
export function exampleName(language: ExampleLanguage): string {
  return isExampleTested(language) ? language : `${language} ${MISSING}`;
}

/** Starts a receiver and waits until it listens. */
export async function startExample(options: ExampleOptions): Promise<ExampleReceiver> {
  const port = options.port ?? (await findFreePort());
  const { child, ended, lines, line } = runExample({ ...options, port });
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await ended;
  };
  try {
    await line("Next: ");
  } catch (error) {
    await kill();
    throw error;
  }
  return { url: `http://127.0.0.1:${port}/webhooks`, lines, line, kill };
}

/** Runs a receiver that is expected to exit; returns its status and output. */
export async function endExample(
  options: ExampleOptions & { readonly port: number },
): Promise<{ status: number | null; said: string }> {
  const { child, ended, lines } = runExample(options);
  const timer = setTimeout(() => child.kill("SIGKILL"), LINE_WITHIN_MS);
  const status = await ended;
  clearTimeout(timer);
  return { status, said: lines.join("\n") };
}

function runExample({ language, secret, state, port }: ExampleOptions & { readonly port: number }) {
  const [program, file] = commandOf(language);
  const child = spawn(program, [file], {
    env: { ...process.env, PORT: String(port), WEBHOOK_SECRET: secret, RECEIVER_STATE: state },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const lines: string[] = [];
  const heard = new EventTarget();
  for (const input of [child.stdout, child.stderr]) {
    createInterface({ input }).on("line", (text) => {
      lines.push(text);
      heard.dispatchEvent(new Event("line"));
    });
  }
  const ended = endOf(child);
  const line = (text: string): Promise<string> =>
    new Promise((found, missed) => {
      const settle = (act: () => void): void => {
        clearTimeout(timer);
        heard.removeEventListener("line", look);
        act();
      };
      const miss = (why: string) => () => missed(new Error(`no "${text}" ${why}:\n${lines.join("\n")}`));
      const look = (): void => {
        const said = lines.find((each) => each.includes(text));
        if (said !== undefined) settle(() => found(said));
      };
      const timer = setTimeout(() => settle(miss(`within ${LINE_WITHIN_MS / 1_000} s`)), LINE_WITHIN_MS);
      heard.addEventListener("line", look);
      ended.then(() => settle(miss("before it ended")));
      look();
    });
  return { child, ended, lines, line };
}

function commandOf(language: ExampleLanguage): readonly [program: string, file: string] {
  if (language === "TypeScript") return [process.execPath, `${FOLDER}/receiver.ts`];
  if (PYTHON === undefined) throw new Error(`${language} ${MISSING}`);
  return [PYTHON, `${FOLDER}/receiver.py`];
}

function endOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
}
