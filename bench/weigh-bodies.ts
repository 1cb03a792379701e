// The CPU time that a body costs before its sender is authenticated, for every route with a body. Generated bodies are placed in each member of the
// route's body and in an unknown member, and compared with plain text in the same place. `node bench/weigh-bodies.ts` prints a line for each route;
// with `--quick` each body is tried once, in an unknown member only.
import * as z from "zod";
import { loadRoutes } from "../scripts/load-routes.ts";
import { ChecksumBudget } from "../src/chains/secrets/checksum-budget.ts";
import { containsSecret, FREE_TEXT } from "../src/chains/secrets/secret-material.ts";
import { LIMITS } from "../src/lib/limits.ts";
import type { Json } from "../src/lib/typed-json.ts";
import { readBody, readForm } from "../src/platform/http/body.ts";
import type { RouteSpec } from "../src/platform/http/route.ts";
import { validate } from "../src/platform/http/validate.ts";

/** The cost for a route: that of its worst generated body, and that of plain text of the same size in the same place. */
interface Weighed {
  readonly operationId: string;
  readonly worst: string;
  readonly worstMs: number;
  readonly plainMs: number;
  /** The highest number of checksums computed for one body of the route. */
  readonly checksums: number;
  /** The highest number of problems found in one body. */
  readonly problems: number;
}

const PLAIN = "An ordinary sentence about an order of 3 shoes in size 42. ";
/** Texts that are slow to search, to normalize, or to match. */
const TEXTS: Readonly<Record<string, string>> = {
  "starts of keys": "5J",
  "starts of compressed keys": "Kx",
  "almost keys": `${"5J".repeat(25)} `,
  "starts of extended keys": "xpub",
  "runs as long as an extended key": `${"z".repeat(111)} `,
  "listed words": "abandon zoo about ",
  "eleven listed words": `${"act ".repeat(11)}qq `,
  "words for keys": "private_key------ is ",
  "long ligatures": "\uFDFA",
  "squared words": "\u3316",
  "addresses of mail": "a.b@c.d.",
  "hexadecimal digits": "0123456789abcdef",
  escapes: '"\\',
};
const BYTES = LIMITS.bodyBytes - 1_024;

const filled = (unit: string, bytes: number) =>
  unit
    .repeat(Math.ceil(bytes / Buffer.byteLength(unit)))
    .slice(0, Math.floor((bytes * unit.length) / Buffer.byteLength(unit)));

/** The unit repeated in one text, in many texts, and in member names. */
function shapesOf(unit: string): Readonly<Record<string, Json>> {
  const many = (texts: number) => Array.from({ length: texts }, () => filled(unit, Math.floor(BYTES / texts) - 4));
  return {
    "one text": filled(unit, BYTES),
    "32 texts": many(32),
    "76 texts": many(76),
    "names of members": Object.fromEntries(many(50).map((text, n) => [`${n}${text}`, n])),
  };
}

/** Values that are costly because there are many of them. */
const CROWDS: Readonly<Record<string, Json>> = {
  "30,000 numbers": Array.from({ length: 30_000 }, () => 0),
  "20,000 objects": Array.from({ length: 20_000 }, () => ({})),
  "6,000 members": Object.fromEntries(Array.from({ length: 6_000 }, (_, n) => [n.toString(36), 0])),
  "999 numbers": Array.from({ length: 999 }, () => 0),
};

/** The members of a route's body, and one unknown member. */
function placesOf(spec: RouteSpec): readonly string[] {
  const { properties } = z.toJSONSchema(spec.body(), { io: "input", unrepresentable: "any" });
  return [...Object.keys(properties ?? {}), "unknown"];
}

async function weigh(
  spec: RouteSpec,
  body: Json,
  rounds: number,
): Promise<Pick<Weighed, "checksums" | "problems"> & { ms: number }> {
  const text = spec.isPage ? new URLSearchParams(Object(body)).toString() : JSON.stringify(body);
  const type = spec.isPage ? "application/x-www-form-urlencoded" : "application/json";
  let best = { ms: Number.POSITIVE_INFINITY, checksums: 0, problems: 0 };
  for (let round = 0; round < rounds; round++) {
    const request = new Request("http://localhost/", { method: "POST", body: text, headers: { "content-type": type } });
    const asked = { checksums: 0 };
    const budget = new (class extends ChecksumBudget {
      override spend(checksums: number): boolean {
        const isPaid = super.spend(checksums);
        if (isPaid) asked.checksums += checksums;
        return isPaid;
      }
    })();
    const start = process.cpuUsage();
    const read = await (spec.isPage ? readForm(request) : readBody(request));
    const verdict = read.ok ? validate(spec.body(), read.value.json) : read;
    // Routes without authentication also search the body.
    if (read.ok && spec.callers === "ANYBODY") containsSecret(read.value.json ?? null, FREE_TEXT, budget);
    const { user, system } = process.cpuUsage(start);
    const isNamed = !verdict.ok && verdict.error.code === "VALIDATION_FAILED";
    const problems = isNamed ? verdict.error.details.length : 0;
    best = { ms: Math.min(best.ms, (user + system) / 1_000), checksums: asked.checksums, problems };
  }
  return best;
}

/** Measures every route that accepts a body. */
async function weighBodies(isQuick: boolean): Promise<readonly Weighed[]> {
  const routes = (await loadRoutes()).filter(({ method }) => method !== "GET");
  const weighed: Weighed[] = [];
  // Code is compiled after a few runs: without a warm-up the first route would seem the most expensive.
  for (const spec of isQuick ? [] : routes.slice(0, 1))
    for (const unit of Object.values(TEXTS))
      for (const body of Object.values(shapesOf(unit))) await weigh(spec, { unknown: body }, 4);
  for (const spec of routes) {
    let route: Weighed = {
      operationId: spec.operationId,
      worst: "",
      worstMs: 0,
      plainMs: 0,
      checksums: 0,
      problems: 0,
    };
    for (const place of isQuick ? ["unknown"] : placesOf(spec)) {
      const rounds = isQuick ? 1 : 4;
      const plain = await weigh(spec, { [place]: filled(PLAIN, BYTES) }, rounds);
      const bodies = Object.entries(TEXTS)
        .flatMap(([name, unit]) =>
          Object.entries(shapesOf(unit)).map(([shape, body]): [string, Json] => [`${name}, ${shape}`, body]),
        )
        .concat(Object.entries(CROWDS));
      for (const [name, body] of bodies) {
        const { ms, checksums, problems } = await weigh(spec, { [place]: body }, rounds);
        const most = { checksums: Math.max(route.checksums, checksums), problems: Math.max(route.problems, problems) };
        const isWorse = ms / plain.ms > route.worstMs / (route.plainMs || 1);
        route = isWorse
          ? { ...route, ...most, worst: `${name} in ${place}`, worstMs: ms, plainMs: plain.ms }
          : { ...route, ...most };
      }
    }
    weighed.push(route);
  }
  return weighed;
}

if (import.meta.main)
  for (const route of await weighBodies(process.argv.includes("--quick"))) console.log(JSON.stringify(route));
