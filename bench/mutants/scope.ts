// The files to mutate: those that decide which payments are credited to whom.
import { globSync } from "node:fs";

const AREAS: Readonly<Record<string, readonly string[]>> = {
  detection: ["src/detection/**/*.ts"],
  amounts: [
    "src/commerce/amounts/*.ts",
    "src/commerce/invoices/{value,rest,weighing,direct-amount,reserve-amount,reserve-remainder,reserve-rest}.ts",
    "src/commerce/payments/{match,dust,quorum,chain-observation}.ts",
  ],
  groups: ["src/platform/db/{groups,gatherer,request-group,joined-statements,commit-batch}.ts"],
};

export interface Scoped {
  readonly area: string;
  readonly file: string;
}

export function scopedFiles(root: string): readonly Scoped[] {
  return Object.entries(AREAS).flatMap(([area, patterns]) =>
    patterns
      .flatMap((pattern) => globSync(pattern, { cwd: root }))
      .toSorted()
      .map((file) => ({ area, file })),
  );
}
