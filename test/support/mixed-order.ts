// The order in which a run takes its test files. vitest runs projects one after another, and the files of one project need the same resource: pages
// and simulators need CPU, while real nodes mostly wait. If the projects' files are mixed, some work while others wait.
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { LONGEST } from "../selection.ts";

/**
 * Spreads the files of each project evenly over the run; within a project the longest go first, the rest keep their order. Projects whose files share
 * modules stay together and go last, because a shared process ends when the next file is of another project.
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
  /** Whether the project's files share processes and loaded modules. */
  readonly isSharing: boolean;
  /** Whether the file takes so long that, if started last, it would run alone at the end. */
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
