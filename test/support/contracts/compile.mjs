// Rebuilds artifacts.json, the run-time code of each contract of this folder by its name. The compiler is not a dependency:
//
//   npm install --prefix /tmp/solc solc@0.8.37
//   node test/support/contracts/compile.mjs /tmp/solc
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const [directory] = process.argv.slice(2);
if (directory === undefined) throw new Error("say where solc is installed");
const solc = createRequire(join(directory, "package.json"))("solc");
const here = import.meta.dirname;
const files = readdirSync(here).filter((name) => name.endsWith(".sol"));
const input = {
  language: "Solidity",
  sources: Object.fromEntries(files.map((name) => [name, { content: readFileSync(join(here, name), "utf8") }])),
  settings: {
    evmVersion: "paris",
    optimizer: { enabled: true, runs: 1 },
    metadata: { appendCBOR: false, bytecodeHash: "none" },
    debug: { revertStrings: "strip" },
    outputSelection: { "*": { "*": ["evm.deployedBytecode.object"] } },
  },
};
const output = JSON.parse(solc.compile(JSON.stringify(input)));
for (const { severity, formattedMessage } of output.errors ?? []) {
  if (severity === "error") throw new Error(formattedMessage);
}
const codes = Object.values(output.contracts)
  .flatMap((file) => Object.entries(file))
  .map(([name, { evm }]) => [name, `0x${evm.deployedBytecode.object}`])
  .filter(([, code]) => code !== "0x")
  .sort(([a], [b]) => (a < b ? -1 : 1));
writeFileSync(join(here, "artifacts.json"), `${JSON.stringify(Object.fromEntries(codes), null, 2)}\n`);
