// The script of the checkout pages on test pages with the same structure as the real ones. Only Chromium runs, and the test decides what the server
// answers, and when.
import type { Browser, BrowserContext, Page, WebSocketRoute } from "playwright-core";
import { checkoutAssets } from "../../scripts/checkout-assets.ts";

const { script: SCRIPT } = await checkoutAssets();
const ORIGIN = "http://localhost";
export const PAY = "/pay/inv_1";
/** The clock of the payer's machine, if a test controls it. */
const MACHINE_MS = Date.parse("2031-05-05T05:05:05.000Z");
/** The server's clock, which is independent of the machine's. */
export const SERVER_MS = Date.parse("2029-01-01T00:00:00.000Z");

const STEP_MS = 5_000;
/** A controlled clock starts this much earlier and is then moved forward: it runs until it is paused, and it cannot be moved back. */
const EARLY_MS = 86_400_000;
/** A time limit that stops a step that hangs; it measures nothing. */
const STEP_LIMIT_MS = 120_000;

/** Lets a test wait until every answer is read: counts requests and bodies until they have arrived or failed. */
const COUNT_REQUESTS = `(() => {
  let open = 0;
  const counted = (promise) => {
    open++;
    const end = () => { open--; };
    promise.then(end, end);
    return promise;
  };
  const ask = window.fetch;
  window.fetch = (...of) => counted(ask(...of)).then((response) => {
    const read = response.text.bind(response);
    response.text = () => counted(read());
    return response;
  });
  const turn = () => new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => { port1.close(); resolve(); };
    port2.postMessage(0);
  });
  window.whenAnswered = async () => {
    do await turn(); while (open > 0);
  };
})()`;
/** A controlled clock does not affect AbortSignal.timeout, which would end requests on a busy machine. */
const HOLD_LIMITS = `AbortSignal.timeout = (ms) => {
  const limit = new AbortController();
  setTimeout(() => limit.abort(new DOMException("late", "TimeoutError")), ms);
  return limit.signal;
}`;

interface Main {
  readonly stage?: string;
  readonly stageText?: string;
  readonly claimText?: string;
  readonly title?: string;
  readonly pollSeconds?: number;
  readonly nowMs?: number;
  readonly hasSocket?: boolean;
}

/** `<main>` as the server writes it. */
export function mainOf(inner: string, of: Main = {}): string {
  const { stage = "pay", stageText = "Waiting", title = "Pay", pollSeconds = 0, nowMs = SERVER_MS } = of;
  const claim = of.claimText === undefined ? "" : `data-claim-text="${of.claimText}"`;
  const live = of.hasSocket === false ? "" : `data-live-url="${PAY}/live"`;
  return `<main id="checkout" data-stage="${stage}" data-stage-text="${stageText}" data-title="${title}" data-now="${nowMs}"
    data-state-url="${PAY}/state" ${claim} ${live} data-poll-seconds="${pollSeconds}">${inner}</main>`;
}

interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Stand {
  readonly page: Page;
  /** Headers of every request for the state. */
  readonly asked: readonly Readonly<Record<string, string>>[];
  /** Every socket opened, newest last. */
  readonly sockets: readonly WebSocketRoute[];
  /** The messages that the sockets received. */
  readonly heard: readonly string[];
  /** Paths that were opened as pages. */
  readonly opened: readonly string[];
  /** Sets the answer to the next requests for the state. */
  answer(reply: Reply | string): void;
  /** Sets whether new sockets are accepted. */
  letIn(isOpen: boolean): void;
  /** Moves the controlled clock forward and runs the timers; does not wait for another page to load. */
  pass(ms: number): Promise<void>;
  /** Waits until the page has read and handled all its answers. */
  settle(): Promise<void>;
  text(selector: string): Promise<string>;
  hide(isHidden: boolean): Promise<void>;
  close(): Promise<void>;
}

export interface StandOptions {
  /** Whether the clock stands still except in `pass`. */
  readonly isHeld?: boolean;
  /** The time of the payer's machine, if it is controlled. */
  readonly machineMs?: number;
  readonly initScripts?: readonly string[];
  readonly permissions?: readonly string[];
  /** Whether the page is in a frame of another page. */
  readonly isFramed?: boolean;
}

/** The policy, like the server's: only the page's own script may run, and the page cannot send requests to another origin. */
const POLICY =
  "default-src 'none'; script-src 'nonce-n'; style-src 'nonce-n'; img-src 'self' data:; connect-src 'self' ws:; frame-src 'self'";

function documentOf(main: string, before: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Pay</title>
    <style nonce="n">[hidden]{display:none!important}</style><script nonce="n" src="/assets/checkout.js" defer></script></head>
    <body>${before}${main}<p id="say" role="status"></p></body></html>`;
}

/** A page with this `<main>`, and with `before` in front of it. */
export async function openStand(
  browser: Browser,
  main: string,
  options: StandOptions & { readonly before?: string } = {},
): Promise<Stand> {
  const context = await browser.newContext({ baseURL: ORIGIN, permissions: [...(options.permissions ?? [])] });
  context.setDefaultTimeout(STEP_LIMIT_MS);
  for (const content of [COUNT_REQUESTS, ...(options.initScripts ?? [])]) await context.addInitScript({ content });
  const page = await context.newPage();
  if (options.isHeld !== false) {
    await context.addInitScript({ content: HOLD_LIMITS });
    const { machineMs = MACHINE_MS } = options;
    await page.clock.install({ time: machineMs - EARLY_MS });
    await page.clock.pauseAt(machineMs);
  }
  const server = { reply: { status: 200, body: main } satisfies Reply as Reply, isOpen: true };
  const asked: Record<string, string>[] = [];
  const sockets: WebSocketRoute[] = [];
  const heard: string[] = [];
  const opened: string[] = [];
  await serve(context, {
    page: (path) => {
      opened.push(path);
      if (path === "/frame") return `<!doctype html><iframe src="${PAY}"></iframe>`;
      return path === PAY ? documentOf(main, options.before ?? "") : `<!doctype html><h1>${path}</h1>`;
    },
    state: (headers) => {
      asked.push(headers);
      return server.reply;
    },
  });
  await page.routeWebSocket(`**${PAY}/live`, (socket) => {
    if (!server.isOpen) return void socket.close();
    sockets.push(socket);
    socket.onMessage((message) => {
      heard.push(String(message));
      if (message === "ping") socket.send("pong");
    });
  });
  const settle = () => page.evaluate<void>("whenAnswered()");
  await page.goto(options.isFramed ? "/frame" : PAY);
  return {
    page,
    asked,
    sockets,
    heard,
    opened,
    answer: (reply) => {
      server.reply = typeof reply === "string" ? { status: 200, body: reply } : reply;
    },
    letIn: (isOpen) => {
      server.isOpen = isOpen;
    },
    pass: async (ms) => {
      // Advances the clock in steps, so that answers arrive in between.
      for (let left = ms; left > 0; left -= STEP_MS) {
        await page.clock.runFor(Math.min(left, STEP_MS));
        await settle();
      }
    },
    settle,
    text: async (selector) => (await page.locator(selector).textContent()) ?? "",
    hide: (isHidden) =>
      page.evaluate(`Object.defineProperty(document, "hidden", { value: ${isHidden}, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"))`),
    close: () => context.close(),
  };
}

async function serve(
  context: BrowserContext,
  of: { readonly page: (path: string) => string; readonly state: (headers: Record<string, string>) => Reply },
): Promise<void> {
  await context.route("**/*", async (route) => {
    const request = route.request();
    const path = new URL(request.url()).pathname + new URL(request.url()).search;
    if (path === `${PAY}/state`) {
      const { status, headers = {}, body = "" } = of.state(request.headers());
      return route.fulfill({ status, headers, contentType: "text/html; charset=utf-8", body });
    }
    if (path === "/assets/checkout.js") return route.fulfill({ contentType: "text/javascript", body: SCRIPT });
    if (!request.isNavigationRequest()) return route.fulfill({ status: 204 });
    return route.fulfill({
      contentType: "text/html; charset=utf-8",
      headers: { "content-security-policy": POLICY },
      body: of.page(path),
    });
  });
}
