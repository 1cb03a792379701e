// Runs wrangler for a deploy and shows each command as it could be typed. The output is shown, and kept so that a failure can be explained.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Finished {
  readonly isGood: boolean;
  /** Empty if the command had the terminal to itself. */
  readonly stdout: string;
  /** Everything it printed, and the error in its output file. */
  readonly everything: string;
  /** The URLs at which the Worker can be reached, as the deploy reported them. */
  readonly targets: readonly string[];
}

export interface Wrangler {
  /** `isQuiet` hides the output of a command that only reads; `hasTerminal` lets wrangler ask its own questions. */
  run(
    args: readonly string[],
    options?: { readonly isQuiet?: boolean; readonly hasTerminal?: boolean },
  ): Promise<Finished>;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Runs wrangler with these arguments; true if it succeeded. If wrangler has direct access to the terminal, nothing reaches `onOutput`. */
export type Program = (
  args: readonly string[],
  of: {
    readonly root: string;
    readonly environment: Environment;
    readonly hasTerminal: boolean;
    readonly onOutput: (text: string, stream: "stdout" | "stderr") => void;
  },
) => Promise<boolean>;

/** Runs the command as a child process. */
export function processOf(command: string, first: readonly string[]): Program {
  return (args, { root, environment, hasTerminal, onOutput }) => {
    const child = spawn(command, [...first, ...args], {
      cwd: root,
      env: { ...environment } as NodeJS.ProcessEnv,
      stdio: hasTerminal ? "inherit" : ["ignore", "pipe", "pipe"],
    });
    child.stdout?.on("data", (chunk: Buffer) => onOutput(String(chunk), "stdout"));
    child.stderr?.on("data", (chunk: Buffer) => onOutput(String(chunk), "stderr"));
    return new Promise((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (status) => resolve(status === 0));
    });
  };
}

interface WranglerSetting {
  readonly root: string;
  readonly program: Program;
  readonly environment: Environment;
  readonly print: (text: string) => void;
  /** Names that the secrets file sets. If the shell set them too, wrangler would prefer the shell's values. */
  readonly notInherited: () => readonly string[];
  readonly accountId: string | undefined;
}

/** Variables that would choose another target, or hide output that we read. */
const NEVER_INHERITED = ["CLOUDFLARE_ENV", "WRANGLER_LOG", "WRANGLER_OUTPUT_FILE_PATH", "FORCE_COLOR"];

export function wranglerFor(setting: WranglerSetting): Wrangler {
  return { run: (args, options = {}) => run(setting, args, options) };
}

async function run(
  setting: WranglerSetting,
  args: readonly string[],
  { isQuiet = false, hasTerminal = false }: { readonly isQuiet?: boolean; readonly hasTerminal?: boolean },
): Promise<Finished> {
  const { print, root } = setting;
  print(`  $ ${commandText(args)}\n`);
  const folder = mkdtempSync(join(tmpdir(), "edgetill-deploy-"));
  const outputFile = join(folder, "output.ndjson");
  try {
    let stdout = "";
    let everything = "";
    const shown = indented(isQuiet ? () => {} : print);
    const isGood = await setting.program(args, {
      root,
      hasTerminal,
      environment: { ...environmentOf(setting), WRANGLER_OUTPUT_FILE_PATH: outputFile },
      onOutput: (text, stream) => {
        if (stream === "stdout") stdout += text;
        everything += text;
        shown.add(text);
      },
    });
    shown.end();
    const entries = entriesOf(outputFile);
    const failures = entries.flatMap(({ type, message = "" }) =>
      type === "command-failed" && !everything.includes(message) ? [message] : [],
    );
    return {
      isGood,
      stdout,
      everything: [everything, ...failures].join("\n"),
      targets: entries.flatMap((each) => (each.type === "deploy" ? (each.targets ?? []) : [])),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function environmentOf({ environment, notInherited, accountId }: WranglerSetting): Environment {
  const inherited: Record<string, string | undefined> = { ...environment };
  for (const name of [...NEVER_INHERITED, ...notInherited()]) delete inherited[name];
  return {
    ...inherited,
    ...(accountId === undefined ? {} : { CLOUDFLARE_ACCOUNT_ID: accountId }),
    NO_COLOR: "1",
    WRANGLER_SEND_METRICS: "false",
    // Hiding the banner also turns off wrangler's check for a newer version.
    WRANGLER_HIDE_BANNER: "true",
  };
}

interface OutputEntry {
  readonly type: string;
  readonly message?: string;
  readonly targets?: readonly string[];
}

/** Each line is JSON. There is no file if the command ended before it could write one. */
function entriesOf(file: string): readonly OutputEntry[] {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    return [];
  }
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line): OutputEntry => JSON.parse(line));
}

/** The command, quoted for a shell. */
function commandText(args: readonly string[]): string {
  return ["wrangler", ...args.map((each) => (/^[\w./=:@-]+$/.test(each) ? each : JSON.stringify(each)))].join(" ");
}

/** Lines that are not shown: borders of tables, and migrations that have not been applied yet. */
const IS_SKIPPED = /^\s*[├┌└]|🕒/u;

/**
 * Shows the output below its command, line by line and indented. Each row of a table is shown only once: wrangler prints the whole table again after
 * each migration, which with 14 migrations is 700 lines.
 */
function indented(print: (text: string) => void): { add(chunk: string): void; end(): void } {
  let rest = "";
  const shown = new Set<string>();
  const show = (line: string) => {
    if (line.trim() === "" || IS_SKIPPED.test(line) || (line.includes("│") && shown.has(line))) return;
    shown.add(line);
    print(`  | ${line.trimEnd()}\n`);
  };
  return {
    add: (chunk) => {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) show(line);
    },
    end: () => show(rest),
  };
}
