import type { Ask } from "../../support/access.ts";
import { sendBeaten as sendBeatenWith } from "../../support/before-write.ts";
import { MUTED } from "../../support/webhooks.ts";

export const sendBeaten = (path: string, ask: Ask, meanwhile: () => Promise<unknown>) =>
  sendBeatenWith(path, ask, meanwhile, MUTED);

export const POST = { method: "POST" } as const;
export const PATCH = { method: "PATCH" } as const;

export const DELETE = { method: "DELETE" } as const;
