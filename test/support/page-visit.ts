// One user on one page, and the rules for every page: no request to another origin, no error, no violation of its content
// policy. Faults are collected and fail the test at its end.
import type { Browser, BrowserContextOptions, CDPSession, Page } from "playwright-core";
import { watchRequests } from "./page-idle.ts";

/** Stops a test that hangs. It is long enough for a busy machine. */
const STEP_WITHIN_MS = 120_000;

export interface VisitOptions extends BrowserContextOptions {
  /** Other origins that may be requested: the shop a payer returns to. */
  readonly alsoAllowed?: readonly string[];
  /** Console errors to tolerate, for tests that provoke a refusal. */
  readonly alsoSaid?: RegExp;
  /** Scripts that run in each document before its own scripts. */
  readonly initScripts?: readonly string[];
}

/** A loaded resource. Bytes are counted as sent over the network, including headers. */
export interface Load {
  readonly url: string;
  readonly type: string;
  readonly bytes: number;
}

export interface Visit {
  readonly page: Page;
  /** Faults; complete once the page is idle. */
  readonly faults: readonly string[];
  /** Everything loaded so far, in order of arrival. */
  readonly loads: readonly Load[];
  /** Every WebSocket that was opened. */
  readonly sockets: readonly string[];
  /** Every layout shift so far, with its score and what moved; empty if nothing moved. */
  shifts(): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** Also counts shifts right after the user's own input: nothing may move while the user is tapping it. */
const WATCH_SHIFTS = `(() => {
  window.__shifts = [];
  const place = ({ x, y, width, height }) => [x, y, width, height].map(Math.round).join(" ");
  const nameOf = (node) => node?.outerHTML?.slice(0, 80) ?? node?.textContent ?? "something that is gone";
  new PerformanceObserver((list) => {
    for (const { value, sources } of list.getEntries()) {
      const moved = sources.map(({ node, previousRect, currentRect }) =>
        nameOf(node) + " from " + place(previousRect) + " to " + place(currentRect));
      window.__shifts.push(value.toFixed(5) + ": " + moved.join("; "));
    }
  }).observe({ type: "layout-shift", buffered: true });
})()`;

export async function startVisit(browser: Browser, baseUrl: string, options: VisitOptions = {}): Promise<Visit> {
  const { alsoAllowed = [], alsoSaid, initScripts = [], ...given } = options;
  const context = await browser.newContext({ baseURL: baseUrl, locale: "en-US", colorScheme: "light", ...given });
  context.setDefaultTimeout(STEP_WITHIN_MS);
  if (given.javaScriptEnabled !== false) await context.addInitScript(WATCH_SHIFTS);
  for (const content of initScripts) await context.addInitScript({ content });
  watchRequests(context);
  const page = await context.newPage();
  const faults: string[] = [];
  const sockets: string[] = [];
  const origins = new Set([baseUrl, ...alsoAllowed]);
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (url.protocol !== "data:" && !origins.has(url.origin)) faults.push(`asked ${url.href}`);
  });
  page.on("websocket", (socket) => {
    sockets.push(socket.url());
    if (!origins.has(new URL(socket.url()).origin.replace(/^ws/, "http"))) faults.push(`opened ${socket.url()}`);
  });
  page.on("pageerror", (error) => faults.push(`threw ${error.message}`));
  page.on("console", (message) => {
    const isTrouble = message.type() === "error" || message.type() === "warning";
    if (isTrouble && !alsoSaid?.test(message.text())) faults.push(`said ${message.text()} (${message.location().url})`);
  });
  const loads = await watchLoads(await context.newCDPSession(page));
  return {
    page,
    faults,
    loads,
    sockets,
    shifts: () => page.evaluate<readonly string[]>("window.__shifts"),
    close: () => context.close(),
  };
}

async function watchLoads(session: CDPSession): Promise<readonly Load[]> {
  const loads: Load[] = [];
  const asked = new Map<string, Omit<Load, "bytes">>();
  session.on("Network.requestWillBeSent", ({ requestId, request, type = "Other" }) => {
    asked.set(requestId, { url: request.url, type });
  });
  session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    const load = asked.get(requestId);
    if (load !== undefined && !load.url.startsWith("data:")) loads.push({ ...load, bytes: encodedDataLength });
  });
  await session.send("Network.enable");
  return loads;
}
