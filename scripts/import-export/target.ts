// The database that an import writes to: that of `npm start` on this machine, or a deployment's, through wrangler.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import * as z from "zod";
import { COMMANDS } from "../deploy/plan.ts";
import type { Wrangler } from "../deploy/wrangler-command.ts";
import { ImportError } from "./import-error.ts";

export type Row = Readonly<Record<string, string | number | null>>;
const ROWS = z.array(z.record(z.string(), z.union([z.string(), z.number(), z.null()])));

export interface Target {
  /** A name for use in file names that distinguishes this database from others. */
  readonly name: string;
  query(sql: string): Promise<readonly Row[]>;
  /** Executes either all statements or none. */
  execute(statements: readonly string[]): Promise<void>;
}

export function localTarget(database: DatabaseSync, name = "local"): Target {
  return {
    name,
    query: async (sql) => ROWS.parse(database.prepare(sql).all()),
    execute: async (statements) => {
      database.exec("BEGIN");
      try {
        for (const statement of statements) database.exec(statement);
        database.exec("COMMIT");
      } catch (error) {
        database.exec("ROLLBACK");
        throw new ImportError(
          `The database refused the rows: ${error instanceof Error ? error.message : String(error)}`,
        );
      }
    },
  };
}

export function remoteTarget(wrangler: Wrangler, name: string, configuration: string): Target {
  return {
    name,
    query: async (sql) => {
      const { isGood, stdout, everything } = await wrangler.run(COMMANDS.query(configuration, sql), { isQuiet: true });
      if (!isGood) throw new ImportError(`The database could not be read:\n${everything}`);
      return resultsIn(stdout);
    },
    execute: async (statements) => {
      const folder = mkdtempSync(join(tmpdir(), "edgetill-import-"));
      const file = join(folder, "rows.sql");
      try {
        writeFileSync(file, statements.join("\n"), { mode: 0o600 });
        const run = await wrangler.run(COMMANDS.executeFile(configuration, file), { isQuiet: true });
        if (!run.isGood) throw new ImportError(`The database refused the rows:\n${run.everything}`);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
  };
}

/** wrangler may print a warning before its JSON. */
function resultsIn(stdout: string): readonly Row[] {
  const begin = stdout.search(/^\[/m);
  const [first]: readonly { readonly results?: readonly Row[] }[] = JSON.parse(stdout.slice(Math.max(begin, 0)));
  return first?.results ?? [];
}
