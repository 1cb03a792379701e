// Measures one page of the console, or a payment page, opened in a browser with an empty cache.
import type { BrowserContext, Page, ViewportSize } from "playwright-core";
import type { Session, Stage } from "./stage.ts";

/** A slow phone on a slow connection: 1.6 Mbit/s down, a round trip of 150 ms, a quarter of this machine's speed. */
const SLOW_LINE = { offline: false, latency: 150, downloadThroughput: 1_600_000 / 8, uploadThroughput: 750_000 / 8 };
const SLOWER_CPU = 4;
const READY_WITHIN_MS = 60_000;
/** A page without a request for this long is fully loaded. */
const QUIET_MS = 1_500;
const LOOK_EVERY_MS = 100;

/**
 * The time at which the page last became complete: it has a heading, and nothing is still loading. Measured in the page, because a call from
 * outside takes time.
 */
const WATCH_READY = `(() => {
  window.__readyMs = undefined;
  const isReady = () => document.querySelector("h1") !== null && document.querySelector('[aria-busy="true"]') === null;
  const look = () => {
    window.__readyMs = isReady() ? (window.__readyMs ?? performance.now()) : undefined;
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})()`;

const FIRST_PAINT = 'performance.getEntriesByName("first-contentful-paint")[0]?.startTime';

interface Opened {
  readonly page: Page;
  /** Bytes of scripts transferred so far, including headers. */
  readonly scriptBytes: () => number;
  /** Bytes of everything transferred so far, including headers. */
  readonly allBytes: () => number;
  readonly context: BrowserContext;
  /** Waits until the page is complete and loads nothing more. */
  readonly untilReady: () => Promise<void>;
}

interface Visit {
  readonly stage: Stage;
  /** The user's session; undefined if nobody is signed in. */
  readonly session: Session | undefined;
  readonly viewport?: ViewportSize;
}

async function opened({ stage, session, viewport }: Visit, isSlow = false): Promise<Opened> {
  const context = await stage.browser.newContext({
    baseURL: stage.baseUrl,
    ...(session === undefined ? {} : { storageState: session }),
    ...(viewport === undefined ? {} : { viewport }),
  });
  context.setDefaultTimeout(READY_WITHIN_MS);
  await context.addInitScript(WATCH_READY);
  const page = await context.newPage();
  const client = await context.newCDPSession(page);
  const scripts = new Set<string>();
  const running = new Set<string>();
  let bytes = 0;
  let allBytes = 0;
  let lastMs = performance.now();
  const ended = (requestId: string) => {
    running.delete(requestId);
    lastMs = performance.now();
  };
  client.on("Network.requestWillBeSent", ({ requestId, type }) => {
    running.add(requestId);
    if (type === "Script") scripts.add(requestId);
  });
  client.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    ended(requestId);
    allBytes += encodedDataLength;
    if (scripts.has(requestId)) bytes += encodedDataLength;
  });
  client.on("Network.loadingFailed", ({ requestId }) => ended(requestId));
  await client.send("Network.enable");
  if (isSlow) {
    await client.send("Network.emulateNetworkConditions", SLOW_LINE);
    await client.send("Emulation.setCPUThrottlingRate", { rate: SLOWER_CPU });
  }
  const untilReady = async () => {
    lastMs = performance.now();
    const lateAtMs = lastMs + READY_WITHIN_MS;
    // Polled from outside, because the page's content security policy forbids the code that Playwright would run in the page to wait.
    const isReady = async () => running.size === 0 && performance.now() - lastMs >= QUIET_MS && (await isWhole(page));
    while (!(await isReady())) {
      if (performance.now() > lateAtMs) throw new Error(`${page.url()} was not ready`);
      await page.waitForTimeout(LOOK_EVERY_MS);
    }
  };
  return { page, context, scriptBytes: () => bytes, allBytes: () => allBytes, untilReady };
}

function isWhole(page: Page): Promise<boolean> {
  return page.evaluate<boolean>("window.__readyMs !== undefined");
}

export interface Weighed {
  /** The bytes that the page transfers if it is opened first. */
  readonly firstBytes: number;
  /** The bytes that the page adds if the page `from` was opened before it. */
  readonly furtherBytes: number;
}

export async function weigh(visit: Visit, path: string, from: string): Promise<Weighed> {
  const first = await opened(visit);
  await first.page.goto(path);
  await first.untilReady();
  const firstBytes = first.scriptBytes();
  await first.context.close();

  const further = await opened(visit);
  await further.page.goto(from);
  await further.untilReady();
  const before = further.scriptBytes();
  // Navigates as a link of the console does, without reloading the page.
  await further.page.evaluate(`history.pushState({}, "", ${JSON.stringify(path)})`);
  await further.untilReady();
  const furtherBytes = further.scriptBytes() - before;
  await further.context.close();
  return { firstBytes, furtherBytes };
}

export interface Timed {
  /** The time of the page's first paint. */
  readonly paintedMs: number;
  readonly usableMs: number;
}

/** Measures the times on the simulated slow phone. */
export async function time(visit: Visit, path: string): Promise<Timed> {
  const { page, context, untilReady } = await opened(visit, true);
  await page.goto(path, { waitUntil: "commit" });
  await untilReady();
  const [paintedMs, usableMs] = await page.evaluate<readonly [number | undefined, number]>(
    `[${FIRST_PAINT}, window.__readyMs]`,
  );
  await context.close();
  if (paintedMs === undefined) throw new Error(`${path} was never painted`);
  return { paintedMs, usableMs };
}

export interface Checkout {
  readonly bytes: number;
  /** When the page was complete and its scripts had run. */
  readonly usableMs: number;
  /** Where the QR code begins, in CSS pixels from the top of the page. */
  readonly qrTop: number;
  /** Whether the whole QR code is visible without scrolling. */
  readonly isQrInView: boolean;
}

/** Measures a payment page on the simulated slow phone's line and processor. */
export async function measureCheckout(visit: Visit, path: string): Promise<Checkout> {
  const { page, context, allBytes, untilReady } = await opened(visit, true);
  await page.goto(path, { waitUntil: "commit" });
  await untilReady();
  const usableMs = await page.evaluate<number>(
    'Math.max(window.__readyMs, performance.getEntriesByType("navigation")[0].loadEventEnd)',
  );
  const box = await page.locator(".qr").boundingBox();
  const height = page.viewportSize()?.height ?? 0;
  await context.close();
  if (box === null) throw new Error(`${path} shows no QR code`);
  return { bytes: allBytes(), usableMs, qrTop: box.y, isQrInView: box.y + box.height <= height };
}
