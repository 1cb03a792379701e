// Turns the samples of V8's profiler into self times by area, file and function of the sources. Pure functions.
import { SourceMap, type SourceMapPayload } from "node:module";
import * as z from "zod";
import { spread } from "../statistics.ts";
import { areaOf, type SourceArea } from "./areas.ts";

const PROFILE_NODE = z.object({
  id: z.number(),
  callFrame: z.object({
    functionName: z.string(),
    url: z.string(),
    lineNumber: z.number(),
    columnNumber: z.number(),
  }),
  children: z.array(z.number()).readonly().optional(),
});
type ProfileNode = Readonly<z.infer<typeof PROFILE_NODE>>;

/** As returned by the inspector's `Profiler.stop`. */
export const PROFILE = z.object({
  nodes: z.array(PROFILE_NODE).readonly(),
  /** Node ids. */
  samples: z.array(z.number()).readonly(),
  /** Microseconds before each sample. */
  timeDeltas: z.array(z.number()).readonly(),
});
export type Profile = Readonly<z.infer<typeof PROFILE>>;

/** Microseconds by name. */
interface SelfTimes {
  readonly byArea: ReadonlyMap<string, number>;
  readonly byFile: ReadonlyMap<string, number>;
  readonly byFunction: ReadonlyMap<string, number>;
}

/** Functions of the bundle's banner, which replace the runtime's own (bundleForProfile). */
const STAND_IN = /^json(Parse|Stringify)$/;

interface Located extends SourceArea {
  /** Line of the source; undefined outside of the bundle. */
  readonly line?: number;
}

/** The rest of an interval whose sample was late: the thread ran another isolate, such as D1's, or did not run at all. */
export const ELSEWHERE = "(elsewhere)";

/** In the table of functions, native work has its own name and that of its caller. In the other tables it counts for the caller's file and area. */
export function selfTimes(profile: Profile, bundle: { readonly code: string; readonly sourceMap: string }): SelfTimes {
  const sources = sourcesOf(bundle);
  const nodes = new Map(profile.nodes.map((node) => [node.id, { node, place: locate(node, sources) }]));
  const parents = new Map(profile.nodes.flatMap(({ id, children }) => (children ?? []).map((child) => [child, id])));
  const callerOf = (id: number): Located | undefined => {
    const parent = parents.get(id);
    if (parent === undefined) return undefined;
    const place = nodes.get(parent)?.place;
    return place?.file === undefined ? callerOf(parent) : place;
  };
  const times = { byArea: new Map(), byFile: new Map(), byFunction: new Map() };
  for (const [id, us] of timeByNode(profile)) {
    const place = nodes.get(id)?.place;
    if (place === undefined) continue;
    const caller = place.file === undefined ? callerOf(id) : undefined;
    add(times.byArea, areaOf(place, caller), us);
    add(times.byFile, place.file ?? caller?.file ?? place.functionName, us);
    add(times.byFunction, caller === undefined ? text(place) : `${place.functionName} called by ${text(caller)}`, us);
  }
  const total = profile.timeDeltas.reduce((sum, us) => sum + us, 0);
  for (const totals of Object.values(times)) add(totals, ELSEWHERE, total - sumOf(totals));
  return times;
}

/** A sample counts for two intervals at most, so a function is not charged for time during which the thread was elsewhere. */
function timeByNode(profile: Profile): ReadonlyMap<number, number> {
  const most = 2 * spread(profile.timeDeltas).median;
  const times = new Map<number, number>();
  for (const [i, id] of profile.samples.entries()) add(times, id, Math.min(profile.timeDeltas[i] ?? 0, most));
  return times;
}

interface Sources {
  /** File of each line of the bundle. */
  readonly files: readonly string[];
  readonly map: SourceMap;
}

/**
 * The file comes from the `// path` that esbuild writes before each module, and the line from the source map. For a package with a source map of its
 * own, the map names other files, so the line is left out.
 */
function sourcesOf({ code, sourceMap }: { readonly code: string; readonly sourceMap: string }): Sources {
  let file = "(bundle)";
  const files = code.split("\n").map((line) => {
    file = /^\/\/ ((?:src|node_modules|bench)\/\S+)$/.exec(line)?.[1] ?? file;
    return file;
  });
  const payload: SourceMapPayload = JSON.parse(sourceMap);
  return { files, map: new SourceMap(payload) };
}

function locate({ callFrame }: ProfileNode, { files, map }: Sources): Located {
  const { url, lineNumber, columnNumber } = callFrame;
  const functionName = callFrame.functionName || "(anonymous)";
  if (url === "" || STAND_IN.test(functionName)) return { functionName, file: undefined };
  if (!url.endsWith("worker.js")) return { functionName, file: url, line: lineNumber + 1 };
  const file = files[lineNumber];
  const entry = map.findEntry(lineNumber, columnNumber);
  const isMapped = "originalSource" in entry && entry.originalSource === file;
  return { functionName, file, ...(isMapped ? { line: entry.originalLine + 1 } : {}) };
}

function text({ functionName, file, line }: Located): string {
  return file === undefined ? functionName : `${functionName} ${file}${line === undefined ? "" : `:${line}`}`;
}

function add<K>(totals: Map<K, number>, key: K, by: number): void {
  totals.set(key, (totals.get(key) ?? 0) + by);
}

function sumOf(totals: ReadonlyMap<unknown, number>): number {
  return [...totals.values()].reduce((sum, us) => sum + us, 0);
}
