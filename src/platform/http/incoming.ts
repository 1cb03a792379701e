// A request in the form that the pipeline uses, both at the edge and in the merchant's object.
import type { RequestId } from "../../lib/ids.ts";
import { unattended } from "../../lib/log.ts";
import { requestSleep } from "../../lib/sleep.ts";
import { openWakingDb } from "../db/client.ts";
import { databaseOf, databaseWithoutMerchant } from "../db/databases.ts";
import type { Meter } from "../db/meter.ts";
import type { Waiting } from "../db/unanswered.ts";
import { type AppContext, callerIp, type GivenDependencies } from "./context.ts";
import type { MerchantContext } from "./merchant-context.ts";

export interface Incoming {
  readonly env: Env;
  readonly requestId: RequestId;
  /** When the request arrived. */
  readonly nowMs: number;
  /** The caller's IP address as the edge reported it; undefined without the edge. */
  readonly ip: string | undefined;
  readonly path: string;
  /** The values of the path's `:parameters`. */
  readonly params: Readonly<Record<string, string>>;
  /** A header by its name in lower case. */
  readonly header: (name: string) => string | undefined;
  /** Runs work after the response; the work may be lost. */
  readonly background: (work: Promise<unknown>) => void;
  /** Counts the request's D1 usage. */
  readonly meter: Meter;
  /** Set inside the merchant's object. */
  readonly merchantContext: MerchantContext | undefined;
}

/** The request at the edge. */
export function incomingOf(c: AppContext): Incoming {
  return {
    env: c.env,
    requestId: c.get("requestId"),
    nowMs: c.get("nowMs"),
    ip: callerIp(c),
    path: c.req.path,
    params: c.req.param() satisfies Readonly<Record<string, string>>,
    header: (name) => c.req.header(name),
    background: (work) => c.executionCtx.waitUntil(unattended(work)),
    meter: c.get("meter"),
    merchantContext: undefined,
  };
}

export function givenDependencies(incoming: Incoming): GivenDependencies {
  const { env, nowMs, background, meter, merchantContext } = incoming;
  if (merchantContext !== undefined) return { ...merchantContext.storage, nowMs, background };
  const db = openWakingDb(databaseOfPath(incoming), env, background, meter);
  return { db, nowMs, sleep: requestSleep(), background };
}

/** The argument of `inTime`, which refuses the request if its database has stalled. */
export function waitingFor(incoming: Incoming): Waiting {
  const { nowMs: sinceMs, background } = incoming;
  return { d1: databaseOfPath(incoming), sleep: requestSleep(), sinceMs, background };
}

/** The database of the merchant, invoice or product that the path names; otherwise that of accounts. */
function databaseOfPath({ env, params }: Incoming): D1Database {
  const id = params.merchantId ?? params.invoiceId ?? params.productId;
  return id === undefined ? databaseWithoutMerchant(env, "ACCOUNTS") : databaseOf(env, id);
}
