// Shared by tests of Interface 6: a real receiver on loopback, endpoints at this receiver, and what arrived there.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, vi } from "vitest";
import type { Listening } from "../support/listen.ts";
import { startReceiver } from "../support/receiver.ts";
import { type ReceiverControl, type Reception, receiverAt } from "../support/receiver-control.ts";
import { expectOk, removeWallets, shop, unique } from "./client.ts";
import type { Invoice } from "./shapes.ts";

export interface Endpoint {
  readonly id: string;
  readonly merchantId: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly description: string | null;
  readonly isActive: boolean;
  readonly retryCount: number;
  readonly timeout: number;
  readonly webhookSecrets: readonly {
    readonly id: string;
    readonly webhookId: string;
    readonly secretKeyPreview: string;
    readonly isActive: boolean;
    readonly expiresAt: string | null;
  }[];
  readonly disabledReason: string | null;
  readonly failuresInRow: number;
  /** Only in the response to a registration or a rotation. */
  readonly secret?: string;
}

export interface Happening {
  readonly id: string;
  readonly type: string;
  readonly event: string;
  readonly timestamp: string;
  readonly apiVersion: string;
  readonly merchantId: string;
  readonly sequence: number | null;
  readonly data: { readonly invoiceId?: string; readonly invoice?: Invoice; readonly paymentMethod?: unknown };
}

interface Attempt {
  readonly number: number;
  readonly at: string;
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly latencyMs: number;
  readonly response: string | null;
}

export interface Delivery {
  readonly id: string;
  readonly webhookId: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly status: "PENDING" | "SUCCEEDED" | "FAILED";
  readonly attempts: number;
  readonly nextAttemptAt: string | null;
  readonly lastAttempt: Attempt | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly attemptLog?: readonly Attempt[];
}

export interface Listed<T> {
  readonly data: readonly T[];
  readonly nextCursor: string | null;
}

export const WITHIN = { timeout: 60_000, interval: 50 };

let listening: Listening;

export let receiver: ReceiverControl;

/** The folder of the test file that runs now; the files of a process share this module. */
export let folder: string;

/** Registers an endpoint for one test. With the behaviour `told` it answers 200 until the test calls `tell`. */
export async function register(events: readonly string[], fields: Record<string, unknown> = {}, behaviour = "told") {
  const key = unique("hook");
  const url = receiver.url(behaviour, key);
  const endpoint = expectOk(await shop.post<Endpoint>("/webhooks", { url, events, ...fields }), 201);
  const secret = endpoint.secret ?? "";
  await receiver.trust(key, secret);
  return {
    id: endpoint.id,
    path: `/webhooks/${endpoint.id}`,
    key,
    secret,
    endpoint,
    tell: (how: string) => receiver.tell(key, how),
    log: () => receiver.log(key),
    /** Waits for this many deliveries; returns all of them. */
    arrivals: (count: number) => arrivals(key, count),
    deliveries: async (query = "") =>
      expectOk(await shop.get<Listed<Delivery>>(`/webhooks/${endpoint.id}/deliveries${query}`), 200).data,
    delivery: async (id: string) =>
      expectOk(await shop.get<Delivery>(`/webhooks/${endpoint.id}/deliveries/${id}`), 200),
  };
}

async function arrivals(key: string, count: number): Promise<readonly Reception[]> {
  return vi.waitFor(async () => {
    const log = await receiver.log(key);
    const received = log.map(({ headers, body }) => `${headers["webhook-id"]} ${body.slice(0, 60)}`).join("\n");
    expect(log.length, received).toBeGreaterThanOrEqual(count);
    return log;
  }, WITHIN);
}

/** Starts a receiver for the tests of a file, and removes it and the example's state folder afterwards. */
export function useReceiver(): void {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "edgetill-webhooks-"));
    listening = await startReceiver();
    receiver = receiverAt(listening.origin);
    await removeWallets(shop);
  });
  afterAll(async () => {
    await listening.close();
    rmSync(folder, { recursive: true });
  });
  afterEach(async () => {
    for (const { id } of expectOk(await shop.get<Endpoint[]>("/webhooks"), 200)) await shop.delete(`/webhooks/${id}`);
  });
}
