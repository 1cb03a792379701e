// demo.json: the data that scripts need to call the server. The merchant and its keys are created once and kept; the base URL changes with PORT.
import { existsSync, readFileSync } from "node:fs";
import * as z from "zod";
import { parseId } from "../src/lib/ids.ts";
import { apiKeyMacKeys, type Home, writePrivateFile } from "./home.ts";
import { DEMO_OWNER, insertSql, newDemo, newOwner } from "./seed.ts";
import { StartError } from "./settings.ts";

const Demo = z.object({
  baseUrl: z.string(),
  merchantId: z.string().startsWith("mer_"),
  secretKey: z.string(),
  publicKey: z.string(),
  /** Absent for a merchant that was created before user accounts existed. */
  ownerEmail: z.string().optional(),
});

/** The content of demo.json. The keys only work on a development server. */
export type Demo = Required<z.infer<typeof Demo>>;

/** Writes demo.json, and the seed file if there is none yet. */
export function prepareDemo(
  home: Home,
  baseUrl: string,
  nowMs: number,
): { readonly demo: Demo; readonly isNew: boolean } {
  const known = readDemo(home);
  if (known !== undefined && known.ownerEmail === undefined) addOwner(home, known.merchantId, nowMs);
  const demo = { ...(known ?? makeDemo(home, nowMs)), baseUrl, ownerEmail: DEMO_OWNER };
  writePrivateFile(home.demoFile, `${JSON.stringify(demo, null, 2)}\n`);
  return { demo, isNew: known === undefined };
}

function makeDemo(home: Home, nowMs: number): Omit<Demo, "baseUrl" | "ownerEmail"> {
  const { merchant, secret, open, rows } = newDemo(apiKeyMacKeys(home), nowMs);
  // Writes the seed first: a demo.json without its rows would look complete.
  writePrivateFile(home.seedFile, insertSql(rows));
  return { merchantId: merchant.id, secretKey: secret.secret, publicKey: open.secret };
}

/** Adds an owner to a merchant that was created before user accounts existed. */
function addOwner(home: Home, merchantId: string, nowMs: number): void {
  const id = parseId("mer", merchantId);
  if (id === undefined) throw new StartError(`${home.demoFile} names no merchant. Delete it to get a new one.`);
  writePrivateFile(home.seedFile, readFileSync(home.seedFile, "utf8") + insertSql(newOwner(id, nowMs)));
}

function readDemo(home: Home): z.infer<typeof Demo> | undefined {
  if (!existsSync(home.demoFile) || !existsSync(home.seedFile)) return undefined;
  try {
    return Demo.parse(JSON.parse(readFileSync(home.demoFile, "utf8")));
  } catch {
    throw new StartError(`${home.demoFile} cannot be read. Delete it to get a new demo merchant with new keys.`);
  }
}
