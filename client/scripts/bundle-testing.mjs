// `edgetill/testing` is built from the service's own rules (src/), which an installed package does not have. So its ESM form and its CommonJS form
// are each one file with all the code that it uses, followed by the licenses of the bundled packages. Its types are only those of testing.ts.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import ts from "typescript";

const CLIENT = fileURLToPath(new URL("..", import.meta.url));
const SOURCE = join(CLIENT, "testing.ts");

/**
 * No module in src/ has side effects when it is loaded (test/unit/import-rules.test.ts), so an unused module is left out, together with the packages
 * that it imports.
 */
const withoutEffects = {
  name: "modules of src have no effects",
  setup: ({ onResolve, resolve }) =>
    onResolve({ filter: /^\.\.?\// }, async ({ path, pluginData, ...of }) => {
      if (pluginData === withoutEffects) return undefined;
      const found = await resolve(path, { ...of, pluginData: withoutEffects });
      return found.errors.length === 0 && /\/src\/.*\.ts$/.test(found.path) && !found.path.includes("/node_modules/")
        ? { path: found.path, sideEffects: false }
        : found;
    }),
};

for (const [format, folder] of [
  ["esm", "dist"],
  ["cjs", "dist/cjs"],
]) {
  const file = join(CLIENT, folder, "testing.js");
  const { metafile } = await build({
    entryPoints: [SOURCE],
    outfile: file,
    bundle: true,
    format,
    // A bundle for browsers also runs in Node and in Workers.
    platform: "browser",
    target: "es2022",
    metafile: true,
    logLevel: "warning",
    plugins: [withoutEffects],
  });
  const inputs = Object.values(metafile.outputs).flatMap((output) =>
    Object.entries(output.inputs).flatMap(([input, { bytesInOutput }]) => (bytesInOutput > 0 ? [input] : [])),
  );
  writeFileSync(file, `${readFileSync(file, "utf8")}\n${licensesOf(inputs)}`);
  writeFileSync(join(CLIENT, folder, "testing.d.ts"), typesOf(readFileSync(SOURCE, "utf8")));
}

/** The license of each package with code in the bundle. */
function licensesOf(inputs) {
  const folders = new Set(inputs.flatMap((input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0] ?? []));
  const texts = [...folders].sort().map((folder) => {
    const { name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
    if (file === undefined) throw new Error(`${name} has no license that the bundle could carry`);
    return `${name} ${version}\n\n${readFileSync(join(folder, file), "utf8").trim()}`;
  });
  return texts.length === 0 ? "" : `/*!\n${texts.join("\n\n----\n\n").replaceAll("*/", "* /")}\n*/\n`;
}

/** The type declarations of one file. All its types are written out, so that no other file has to be read. */
function typesOf(source) {
  const compilerOptions = { declaration: true, isolatedDeclarations: true, target: ts.ScriptTarget.ES2022 };
  const { outputText, diagnostics = [] } = ts.transpileDeclaration(source, { compilerOptions, fileName: "testing.ts" });
  const [problem] = diagnostics;
  if (problem !== undefined) throw new Error(ts.flattenDiagnosticMessageText(problem.messageText, "\n"));
  return outputText;
}
