// demo.json: what scripts need in order to call the server. The merchant and its keys are made once and kept; the address follows PORT.
import { existsSync, readFileSync } from "node:fs";
import * as z from "zod";
import { type Home, writePrivateFile } from "./home.ts";
import { insertSql, newDemoRows } from "./seed.ts";
import { StartError } from "./settings.ts";

const Demo = z.object({ baseUrl: z.string(), merchantId: z.string(), secretKey: z.string(), publicKey: z.string() });

/** The content of demo.json. The keys are of a development server only. */
export type Demo = z.infer<typeof Demo>;

/** Writes demo.json, and the seed beside it when there is none yet. */
export function prepareDemo(
  home: Home,
  baseUrl: string,
  nowMs: number,
): { readonly demo: Demo; readonly isNew: boolean } {
  const known = readDemo(home);
  const demo = { ...(known ?? newDemo(home, baseUrl, nowMs)), baseUrl };
  writePrivateFile(home.demoFile, `${JSON.stringify(demo, null, 2)}\n`);
  return { demo, isNew: known === undefined };
}

function newDemo(home: Home, baseUrl: string, nowMs: number): Demo {
  const { merchant, secret, open } = newDemoRows(nowMs);
  // The seed first: a demo.json without its rows would be taken for finished.
  writePrivateFile(home.seedFile, insertSql({ merchants: [merchant], apiKeys: [secret.row, open.row] }));
  return { baseUrl, merchantId: merchant.id, secretKey: secret.secret, publicKey: open.secret };
}

function readDemo(home: Home): Demo | undefined {
  if (!existsSync(home.demoFile) || !existsSync(home.seedFile)) return undefined;
  try {
    return Demo.parse(JSON.parse(readFileSync(home.demoFile, "utf8")));
  } catch {
    throw new StartError(`${home.demoFile} cannot be read. Delete it to get a new demo merchant with new keys.`);
  }
}
