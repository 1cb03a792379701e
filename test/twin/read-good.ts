// Reads for the twin's own checks, repeated because the faults that it injects may make them fail.
import { setTimeout as sleep } from "node:timers/promises";
import { BROKE } from "./client.ts";
import type { Twin } from "./deployment.ts";

/** Statuses of temporary refusals, after which a client repeats its request. */
export const PASSING: readonly number[] = [409, 429, 503, BROKE];
const [WITHIN_MS, PAUSE_MS, SHOWN] = [60_000, 500, 200] as const;

/** Returns the body of a 200 response. Repeats the request after temporary refusals, and throws on any other response. */
export async function readGood(
  ask: Twin["ask"],
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<string> {
  for (const lateMs = Date.now() + WITHIN_MS; ; await sleep(PAUSE_MS)) {
    const { status, text } = await ask(path, { headers }).catch((error: unknown) => ({
      status: BROKE,
      text: String(error),
    }));
    if (status === 200) return text;
    if (!PASSING.includes(status) || Date.now() > lateMs)
      throw new Error(`GET ${path}: ${status} ${text.slice(0, SHOWN)}`);
  }
}
