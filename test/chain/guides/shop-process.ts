// A shop of the guide as a process, started by the commands of its chapter.
import { type ChildProcess, spawn } from "node:child_process";
import { until } from "../../../scripts/demo-story/until.ts";
import { inTestFolder, terminalEnvironment } from "./install-shop.ts";
import { programOf, type ShopOfGuide, startOf } from "./shops.ts";

/** Ends the process group when a pipe closes that only the test's process holds open, so that no shop remains however that process ends. */
const TIED = "exec 3<&0 </dev/null\n(read -r _ <&3 || kill -KILL 0) &\nexec 3<&-\nset -e\n";
/** A limit for bundling a shop on a busy machine; it does not measure speed. */
const LISTENS_WITHIN_MS = 200_000;

interface ShopSettings {
  readonly port: number;
  /** The value of SHOP_STATE. */
  readonly state: string;
  /** Other variables that a shop reads. */
  readonly variables: Readonly<Record<string, string>>;
}

export interface ShopProcess {
  /** Everything it has printed. */
  printed(): string;
  /** Ends the shop and everything it started, by group id, without a chance to clean up. May be called twice. */
  kill(): Promise<void>;
}

/** Starts the shop and waits until it has printed its address and answers. */
export async function startShopProcess(shop: ShopOfGuide, settings: ShopSettings): Promise<ShopProcess> {
  const child = spawn("sh", ["-c", TIED + inTestFolder(withProgram(shop))], {
    env: environmentOf(settings),
    // A process group of its own, so that all of it can be ended by one id.
    detached: true,
    stdio: "pipe",
  });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (printed += text));
  const life = { isOver: false };
  const ended = new Promise<void>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", () => {
      life.isOver = true;
    });
    child.once("close", () => resolve());
  });
  const kill = async (): Promise<void> => {
    killGroup(child);
    await ended;
  };
  const origin = originOf(settings);
  try {
    await until(
      async () => life.isOver || (printed.includes(origin) && (await answers(origin))),
      (isSettled) => isSettled,
      LISTENS_WITHIN_MS,
    );
    if (life.isOver) throw new Error("it ended");
  } catch (error) {
    await kill();
    throw new Error(`${shop.name} did not start. It printed:\n${printed}`, { cause: error });
  }
  return { printed: () => printed, kill };
}

export function originOf({ port }: Pick<ShopSettings, "port">): string {
  return `http://127.0.0.1:${port}`;
}

function environmentOf({ port, state, variables }: ShopSettings): NodeJS.ProcessEnv {
  return { ...terminalEnvironment(), PORT: String(port), SHOP_STATE: state, ...variables };
}

/** The chapter's start commands; a program that is not on the PATH is called by its full path. */
function withProgram(shop: ShopOfGuide): string {
  const { program } = shop;
  const found = programOf(shop);
  if (program === undefined || program === found) return startOf(shop);
  if (found === undefined) throw new Error(`${shop.name} needs ${program}: npm run nodes:install brings it`);
  return `${program}() { "${found}" "$@"; }\n${startOf(shop)}`;
}

async function answers(origin: string): Promise<boolean> {
  try {
    const response = await fetch(origin, { signal: AbortSignal.timeout(LISTENS_WITHIN_MS) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Error) || !("code" in error) || error.code !== "ESRCH") throw error;
  }
}
