// The order in which a run takes its files. vitest takes one project after the other, and files of one project want the same of a machine: pages and
// simulators its cores, real nodes hardly more than time. So the files of the projects are mixed: while some wait, others work.
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { LONGEST } from "../selection.ts";

/**
 * Spreads the files of each project evenly over the whole; within a project the longest come first, and then all keep their order. Projects whose files
 * share what they loaded stay together and come last, because a process that shares ends where the next file is of another project.
 */
export function mixed<File>(files: readonly File[], of: (file: File) => Placing): File[] {
  const placed = [...Map.groupBy(files, (file) => of(file).project).values()].flatMap((group) =>
    group
      .toSorted((a, b) => Number(of(b).isLong) - Number(of(a).isLong))
      .map((file, at) => ({ file, place: of(file).isSharing ? 1 : (at + 0.5) / group.length })),
  );
  return placed.toSorted((a, b) => a.place - b.place).map(({ file }) => file);
}

export interface Placing {
  readonly project: string;
  /** Its files share processes, and what these loaded. */
  readonly isSharing: boolean;
  /** Begun last, it would run on alone. */
  readonly isLong: boolean;
}

export default class MixedOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return mixed(await super.sort(files), ({ project, moduleId }) => ({
      project: project.name,
      isSharing: !project.config.isolate,
      isLong: LONGEST.some((path) => moduleId.endsWith(`/${path}`)),
    }));
  }
}
