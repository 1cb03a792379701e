// The size of the console's pages and of the payment page, and their load time on a slow phone; and where the payment page's QR code is. Each page is opened directly and from another page, in a real browser. The
// development server compresses files as Cloudflare's edge does.
import { CONSOLE_PAGES } from "../../src/app/console/paths.ts";
import { type Checkout, measureCheckout, type Timed, time, type Weighed, weigh } from "../console/measure.ts";
import { openStage, type Stage } from "../console/stage.ts";
import type { Context } from "../context.ts";
import type { Figure, Outcome } from "../report.ts";
import { type Spread, spread } from "../statistics.ts";

const KIB = 1_024;
/** Limits for the transferred JavaScript, in KiB: for the first page, and for each further page. */
const MAX_FIRST_KIB = 300;
const MAX_FURTHER_KIB = 80;
const MAX_PAINTED_MS = 2_000;
const MAX_USABLE_MS = 5_000;
const MAX_CHECKOUT_KIB = 15;
const MAX_CHECKOUT_USABLE_MS = 1_000;
const ROUNDS = 3;

const SCREENS = [
  { name: "wide", viewport: { width: 1_280, height: 800 } },
  { name: "phone", viewport: { width: 390, height: 844 } },
] as const;

type Shown = { readonly name: string; readonly height: number; readonly rounds: readonly Checkout[] };

type Name = keyof typeof CONSOLE_PAGES;
type Measured = Weighed & { readonly name: string; readonly times: readonly Timed[] };

const HOME: Name = "merchant";
/** This page only redirects to another page. */
const NO_PAGE: Name = "start";
/** This page redirects signed-in users. */
const SIGN_IN: Name = "signIn";
/** The smallest page, from which each further page is opened. */
const FROM = CONSOLE_PAGES.account.path;

export async function consolePages(context: Context): Promise<Outcome> {
  context.progress("starting the service and a browser");
  const stage = await openStage();
  try {
    const pages: Measured[] = [];
    for (const [name, { path }] of Object.entries(CONSOLE_PAGES)) {
      if (name === NO_PAGE) continue;
      context.progress(`opening ${path}`);
      pages.push(await measured(stage, name, path, context.options.isQuick ? 1 : ROUNDS));
    }
    context.progress("opening the payment page");
    const shown = await checkouts(stage, context.options.isQuick ? 1 : ROUNDS);
    return {
      figures: [...pages.flatMap(figuresOf), ...shown.flatMap(checkoutFigures)],
      listings: [listingOf(pages), checkoutListing(shown)],
    };
  } finally {
    await stage.stop();
  }
}

async function measured(stage: Stage, name: string, pattern: string, rounds: number): Promise<Measured> {
  const path = pathIn(stage, pattern);
  const visit = { stage, session: name === SIGN_IN ? undefined : stage.session };
  const weight = await weigh(visit, path, FROM);
  const times: Timed[] = [];
  for (let round = 0; round < rounds; round++) times.push(await time(visit, path));
  return { name: name === HOME ? "Home" : name, ...weight, times };
}

async function checkouts(stage: Stage, rounds: number): Promise<readonly Shown[]> {
  const shown: Shown[] = [];
  for (const { name, viewport } of SCREENS) {
    const measured: Checkout[] = [];
    for (let round = 0; round < rounds; round++)
      measured.push(await measureCheckout({ stage, session: undefined, viewport }, `/pay/${stage.ids.invoiceId}`));
    shown.push({ name, height: viewport.height, rounds: measured });
  }
  return shown;
}

function checkoutFigures({ name, rounds }: Shown): readonly Figure[] {
  const usable = rounds.map(({ usableMs }) => usableMs);
  const bytes = Math.max(...rounds.map((each) => each.bytes));
  return [
    {
      what: `payment page, ${name}: everything it transfers`,
      baseline: `the bound of ${MAX_CHECKOUT_KIB} KiB`,
      ratio: spread([bytes / (MAX_CHECKOUT_KIB * KIB)]),
      target: { atMost: 1 },
      measured: `${(bytes / KIB).toFixed(1)} KiB`,
    },
    {
      what: `payment page, ${name}: usable on a slow phone's line`,
      baseline: `the bound of ${MAX_CHECKOUT_USABLE_MS / 1_000} s`,
      ratio: spread(usable.map((each) => each / MAX_CHECKOUT_USABLE_MS)),
      target: { atMost: 1 },
      measured: seconds(spread(usable)),
    },
  ];
}

function checkoutListing(shown: readonly Shown[]) {
  return {
    title: "The payment page at the same line and CPU: where its QR code begins, in CSS pixels from the top",
    columns: ["screen", "height", "QR code begins at", "whole QR code in view"],
    rows: shown.map(({ name, height, rounds }) => [
      name,
      `${height}`,
      `${spread(rounds.map(({ qrTop }) => qrTop)).median.toFixed(0)}`,
      rounds.every(({ isQrInView }) => isQrInView) ? "yes" : "no",
    ]),
  };
}

function pathIn({ ids }: Stage, pattern: string): string {
  return pattern.replace(/:(\w+)/g, (_, name: string) => {
    const id = ids[name];
    if (id === undefined) throw new Error(`the stage has no ${name} for ${pattern}`);
    return id;
  });
}

function figuresOf({ name, firstBytes, furtherBytes, times }: Measured): readonly Figure[] {
  const bytes = (what: string, measured: number, bound: number): Figure => ({
    what: `console, ${name}: ${what}`,
    baseline: `the bound of ${bound} KiB`,
    ratio: spread([measured / (bound * KIB)]),
    target: { atMost: 1 },
    measured: kib(measured),
  });
  const ms = (what: string, of: (timed: Timed) => number, bound: number): Figure => ({
    what: `console, ${name}: ${what} on a slow phone`,
    baseline: `the bound of ${bound / 1_000} s`,
    ratio: spread(times.map((timed) => of(timed) / bound)),
    target: { atMost: 1 },
    measured: seconds(spread(times.map(of))),
  });
  return [
    bytes("scripts of the page opened first", firstBytes, MAX_FIRST_KIB),
    bytes("scripts of it as a further page", furtherBytes, MAX_FURTHER_KIB),
    ms("painted", ({ paintedMs }) => paintedMs, MAX_PAINTED_MS),
    ms("usable", ({ usableMs }) => usableMs, MAX_USABLE_MS),
  ];
}

function listingOf(pages: readonly Measured[]) {
  return {
    title: "The console's pages: JavaScript on the wire, and times at 1.6 Mbit/s, 150 ms and a quarter of the CPU",
    columns: ["page", "opened first", "further", "painted", "usable"],
    rows: pages.map(({ name, firstBytes, furtherBytes, times }) => [
      name,
      kib(firstBytes),
      kib(furtherBytes),
      seconds(spread(times.map(({ paintedMs }) => paintedMs))),
      seconds(spread(times.map(({ usableMs }) => usableMs))),
    ]),
  };
}

function kib(bytes: number): string {
  return `${(bytes / KIB).toFixed(0)} KiB`;
}

function seconds({ median }: Spread): string {
  return `${(median / 1_000).toFixed(2)} s`;
}
