// The size of a walk, which is the number of files and folders that it visits, and the upper bound of each walk.
import type { Trace } from "./trace.ts";

export interface WalkBound {
  readonly files: number;
  readonly folders: number;
}

/** The smallest size of each walk so far. A change that makes a walk smaller lowers its bound. */
export const WALK_BOUNDS = {
  create: { files: 131, folders: 37 },
  payment: { files: 137, folders: 33 },
} as const satisfies Readonly<Record<string, WalkBound>>;

const ROOT = "src/";

/** The files below src, in the order in which each first runs a function. */
export function filesIn(trace: Trace): readonly string[] {
  return [...new Set(trace.map(({ file }) => file.slice(ROOT.length)))];
}

/** How many of the files are in each folder, by the folder's name. */
export function foldersIn(trace: Trace): ReadonlyMap<string, number> {
  const folderOf = (file: string) => file.slice(0, file.lastIndexOf("/"));
  const held = Map.groupBy(filesIn(trace), folderOf);
  return new Map(
    [...held].map(([folder, files]) => [folder, files.length] as const).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
}

/** Says where a walk exceeds its bound; empty if it does not. */
export function beyondBound(name: string, { files, folders }: WalkBound, bound: WalkBound): readonly string[] {
  return [
    ...(files > bound.files ? [`${name} visits ${files} files, more than ${bound.files}`] : []),
    ...(folders > bound.folders ? [`${name} visits ${folders} folders, more than ${bound.folders}`] : []),
  ];
}
