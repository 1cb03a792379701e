// One receiver for all worker tests: workerd has no servers of its own, so Node serves it and `inject("receiverOrigin")` says where.
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
