// Shared by all tests of pages: a local Ethereum node that mines on demand, a server that watches it, and shops with one key each. If there is no
// browser, nothing is started.
import type { TestProject } from "vitest/node";
import { isBrowserWanted } from "../support/page-program.ts";
import { openTestbed, type Testbed } from "./testbed.ts";

declare module "vitest" {
  interface ProvidedContext {
    testbed: Testbed;
  }
}

export default async function serve(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (!isBrowserWanted()) return undefined;
  const { testbed, close } = await openTestbed();
  project.provide("testbed", testbed);
  return close;
}
