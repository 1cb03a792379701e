// Exports every merchant's rows to a bucket, once a night. A run is bounded; an object in the bucket holds the progress, from which the next run
// continues. A crashed run is repeated from there, and writes the same keys again.
import { sha256Hex } from "../../lib/bytes.ts";
import type { Report } from "../../lib/log.ts";
import { isoTime, SECOND_MS } from "../../lib/time.ts";
import { type JsonOf, parseJson } from "../../lib/typed-json.ts";
import type { Db } from "../db/client.ts";
import type { Left } from "../jobs/left.ts";
import type { Bucket } from "./bucket.ts";
import { forgetExports } from "./forget-exports.ts";
import {
  folderOf,
  indexKey,
  type Manifest,
  manifestKey,
  type NightIndex,
  nightOf,
  rowsOf,
  STATE_KEY,
} from "./manifest.ts";
import { beginMerchant, type Progress, readStep } from "./read-step.ts";
import { addRows, type Lines, packParts } from "./record-parts.ts";
import { selectNextMerchant } from "./store.ts";

interface ExportDependencies {
  readonly db: Db;
  readonly bucket: Bucket;
  readonly nowMs: number;
  readonly clock: () => number;
  readonly release: string;
  /** How many days exports are kept; if null, nothing is deleted. */
  readonly keepDays: number | null;
  readonly report: Report;
  readonly bounds: typeof RUN_BOUNDS;
}

interface State {
  readonly date: string;
  readonly phase: "merchants" | "forget" | "done";
  /** How many runs have started since the last one that succeeded. */
  readonly attempts: number;
  readonly afterMerchant: string;
  readonly current: Progress | null;
  readonly merchants: NightIndex["merchants"];
  readonly failed: readonly string[];
}

/**
 * A run that reaches one of these bounds reads no more pages. They are well below the platform's limits on memory, CPU and queries (1,000). A run
 * ends long before its lease, after which another run could start.
 */
export const RUN_BOUNDS = { characters: 16_000_000, statements: 600, ms: 20 * SECOND_MS };
/** After this many crashed runs in a row (half an hour), the merchant is skipped for the night, so that the others are still exported. */
const MOST_ATTEMPTS = 30;

export async function exportMerchants(deps: ExportDependencies): Promise<Left> {
  const begun = await readState(deps);
  if (begun.phase === "done") return "nothing";
  // Written before the work, because a fault that kills the run, such as a lack of memory, cannot be caught as an error.
  const state = withoutFailing({ ...begun, attempts: begun.attempts + 1 }, deps.report);
  await writeState(deps, state);
  const next = state.phase === "forget" ? await forgetOld(deps, state) : await exportSome(deps, state);
  await writeState(deps, { ...next, attempts: 0 });
  return next.phase === "done" ? "nothing" : "more";
}

/** Continues the export of an unfinished night; if there is none, starts the export of the latest night that has begun. */
async function readState({ bucket, nowMs }: ExportDependencies): Promise<State> {
  const date = nightOf(nowMs);
  const json: JsonOf<State> | undefined = await (await bucket.get(STATE_KEY))?.text();
  const state = json === undefined ? undefined : parseJson(json);
  if (state !== undefined && (state.phase !== "done" || state.date >= date)) return state;
  const none = { afterMerchant: "", current: null, merchants: [], failed: [] };
  return { date, phase: "merchants", attempts: 0, ...none };
}

async function writeState({ bucket }: ExportDependencies, state: State): Promise<void> {
  await bucket.put(STATE_KEY, JSON.stringify(state));
}

function withoutFailing(state: State, report: Report): State {
  const { current, attempts, failed } = state;
  if (attempts <= MOST_ATTEMPTS || current === null) return state;
  report("a merchant could not be exported", { merchant: current.merchantId, attempts });
  return {
    ...state,
    attempts: 1,
    current: null,
    afterMerchant: current.merchantId,
    failed: [...failed, current.merchantId],
  };
}

/** Reads until a bound is reached, then writes the parts to the bucket. */
async function exportSome(deps: ExportDependencies, from: State): Promise<State> {
  const { bounds } = deps;
  const untilMs = deps.clock() + bounds.ms;
  let read: Read = { state: from, lines: new Map() };
  let statements = 0;
  let characters = 0;
  while (deps.clock() < untilMs && statements < bounds.statements && characters < bounds.characters) {
    const current = read.state.current ?? (await nextMerchant(deps, read.state));
    if (current === null) return endMerchants(deps, read.state);
    const step = await readStep(deps.db, current);
    statements += step.statements;
    characters += addRows(read.lines, step.rows);
    read = { ...read, state: { ...read.state, current: step.next } };
    if (step.isLast) read = { state: await endMerchant(deps, step.next, read), lines: new Map() };
  }
  const { current } = read.state;
  return current === null ? read.state : { ...read.state, current: await putParts(deps, current, read) };
}

interface Read {
  readonly state: State;
  readonly lines: Lines;
}

async function nextMerchant(deps: ExportDependencies, state: State): Promise<Progress | null> {
  const [merchant] = await selectNextMerchant(deps.db, state.afterMerchant);
  if (merchant === undefined) return null;
  const current = beginMerchant(merchant.id, deps.clock());
  // An earlier run crashed: if this run crashes too, the state shows at which merchant.
  if (state.attempts > 1) await writeState(deps, { ...state, current });
  return current;
}

/** Writes the parts to the bucket; returns the progress that includes them. */
async function putParts(deps: ExportDependencies, current: Progress, { state, lines }: Read): Promise<Progress> {
  const { numbers } = current;
  const written = await packParts(lines, { folder: folderOf(state.date, current.merchantId), numbers });
  for (const { part, content } of written) await deps.bucket.put(part.key, content);
  const more = written.map(({ part: { table } }) => [table, (numbers[table] ?? 0) + 1]);
  return {
    ...current,
    numbers: { ...numbers, ...Object.fromEntries(more) },
    parts: [...current.parts, ...written.map(({ part }) => part)],
  };
}

/** Writes the manifest of a merchant, after all its other objects. */
async function endMerchant(deps: ExportDependencies, current: Progress, read: Read): Promise<State> {
  const { state } = read;
  const { merchantId, begunAtMs, parts } = await putParts(deps, current, read);
  const manifest: Manifest = {
    format: 1,
    release: deps.release,
    date: state.date,
    merchantId,
    begunAt: isoTime(begunAtMs),
    endedAt: isoTime(deps.clock()),
    rows: rowsOf(parts),
    parts,
  };
  const key = manifestKey(folderOf(state.date, merchantId));
  const text = JSON.stringify(manifest);
  await deps.bucket.put(key, text);
  const entry = { merchantId, manifest: key, sha256: sha256Hex(text) };
  return { ...state, current: null, afterMerchant: merchantId, merchants: [...state.merchants, entry] };
}

async function endMerchants({ bucket }: ExportDependencies, state: State): Promise<State> {
  const { date, merchants, failed } = state;
  const index: NightIndex = { format: 1, date, merchants, failed };
  await bucket.put(indexKey(date), JSON.stringify(index));
  return { ...state, current: null, phase: "forget" };
}

/** Older nights are deleted only once a newer one is complete. */
async function forgetOld(deps: ExportDependencies, state: State): Promise<State> {
  const { bucket, keepDays } = deps;
  const left = keepDays === null ? "nothing" : await forgetExports(bucket, state.date, keepDays);
  return left === "more" ? state : { ...state, phase: "done" };
}
