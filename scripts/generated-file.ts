// Generated files that are committed, so that readers and tools see them: written by their command, and compared with its output by a test.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";

/**
 * Writes `text` as `npm run format` would leave it, unless it must stay as it is. An unchanged file is not touched, so that no watcher is triggered.
 * With --check it writes nothing, and fails the process if the file differs.
 */
export function keepGenerated(of: { file: string; text: string; command: string; isFormatted?: boolean }): void {
  const { file, text, command } = of;
  const formatted = of.isFormatted === true ? text : formattedText(file, text);
  if (existsSync(file) && readFileSync(file, "utf8") === formatted) return;
  if (!process.argv.includes("--check")) {
    writeFileSync(file, formatted);
  } else {
    console.error(`${file} is not what its sources say: run ${command}`);
    process.exitCode = 1;
  }
}

function formattedText(file: string, input: string): string {
  const path = `--stdin-file-path=${file}`;
  return execFileSync("node_modules/.bin/biome", ["format", path], { input, encoding: "utf8" });
}
