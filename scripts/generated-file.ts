// Files that are made from others and kept, so that readers and tools see them: written by their command, held to it by a test.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

/** Writes `text` as `npm run format` would leave it. With --check it writes nothing, and fails the process where the file is another. */
export function keepGenerated({ file, text, command }: { file: string; text: string; command: string }): void {
  const formatted = execFileSync("node_modules/.bin/biome", ["format", `--stdin-file-path=${file}`], {
    input: text,
    encoding: "utf8",
  });
  if (!process.argv.includes("--check")) {
    writeFileSync(file, formatted);
  } else if (readFileSync(file, "utf8") !== formatted) {
    console.error(`${file} is not what its sources say: run ${command}`);
    process.exitCode = 1;
  }
}
