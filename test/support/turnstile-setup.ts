// One Turnstile stand-in for all worker tests: workerd has no servers, so Node serves it.
import type { TestProject } from "vitest/node";
import { startTurnstile } from "./turnstile-stand-in.ts";

declare module "vitest" {
  interface ProvidedContext {
    turnstileOrigin: string;
  }
}

export default async function serveTurnstile(project: TestProject): Promise<() => Promise<void>> {
  const { origin, close } = await startTurnstile();
  project.provide("turnstileOrigin", origin);
  return close;
}
