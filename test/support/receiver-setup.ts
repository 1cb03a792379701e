// One receiver for all worker tests: workerd has no servers, so Node serves it and `inject("receiverOrigin")` has its address.
import type { TestProject } from "vitest/node";
import { startReceiver } from "./receiver.ts";

declare module "vitest" {
  interface ProvidedContext {
    receiverOrigin: string;
  }
}

export default async function serveReceiver(project: TestProject): Promise<() => Promise<void>> {
  const receiver = await startReceiver();
  project.provide("receiverOrigin", receiver.origin);
  return receiver.close;
}
