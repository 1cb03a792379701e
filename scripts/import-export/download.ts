// Downloads a night's export from its bucket into a local folder. Parts that are already in the folder, unchanged, are not downloaded again.
import { existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { COMMANDS } from "../deploy/plan.ts";
import type { Wrangler } from "../deploy/wrangler-command.ts";
import { ImportError } from "./import-error.ts";
import { digestOf, readIndex, readManifest } from "./read-export.ts";

interface Download {
  readonly bucket: string;
  readonly date: string;
  /** Empty for all merchants of the night. */
  readonly merchants: readonly string[];
  readonly folder: string;
}

export async function download(wrangler: Wrangler, { bucket, date, merchants, folder }: Download): Promise<void> {
  const bring = async (path: string) => {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    // A file gets its final name only when it is complete.
    const args = COMMANDS.getObject(`${bucket}/exports/${date}/${path}`, `${file}.part`);
    const { isGood, everything } = await wrangler.run(args, { isQuiet: true });
    if (!isGood) throw new ImportError(`${path} could not be read from the bucket:\n${everything}`);
    renameSync(`${file}.part`, file);
  };
  if (merchants.length === 0) await bring("merchants.json");
  const wanted = merchants.length > 0 ? merchants : (readIndex(folder)?.merchants ?? []).map((each) => each.merchantId);
  for (const merchantId of wanted) {
    await bring(`${merchantId}/manifest.json`);
    for (const { key, sha256 } of readManifest(folder, merchantId).manifest.parts) {
      const path = key.slice(`exports/${date}/`.length);
      const file = join(folder, path);
      if (!existsSync(file) || digestOf(readFileSync(file)) !== sha256) await bring(path);
    }
  }
}
