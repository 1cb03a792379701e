// The errors of D1 and of Durable Objects that the twin simulates. Each has the platform's message, its source, and its class in the service.

/** The classes of `faultKind` in src/platform/db/retry.ts. */
type Kind = "transient" | "reset" | "overloaded";

interface Fault {
  readonly message: string;
  readonly kind: Kind;
  /** Whether the call is refused before it starts. Of the other calls half do their work before they fail. */
  readonly isRefusal: boolean;
  /** The page or source that documents the message, with its date or the date of reading. */
  readonly source: string;
}

const D1_PAGE = "https://developers.cloudflare.com/d1/observability/debug-d1/, read in November 2026";
const OBJECTS_PAGE =
  "https://developers.cloudflare.com/durable-objects/observability/troubleshooting/, of May 15, 2026";
/** The runtime's message for every connection that breaks. It is not on a page about objects. */
const RUNTIME = "https://github.com/cloudflare/workerd, in its binary of November 2026";

const row = (message: string, kind: Kind, source: string, isRefusal = kind === "overloaded"): Fault => ({
  message,
  kind,
  isRefusal,
  source,
});

/** All eleven errors on D1's page. */
export const D1_FAULTS: readonly Fault[] = [
  row("Network connection lost.", "transient", D1_PAGE),
  row("Cannot resolve D1 DB due to transient issue on remote node.", "transient", D1_PAGE, true),
  row("D1 DB reset because its code was updated.", "transient", D1_PAGE),
  row("Internal error while starting up D1 DB storage caused object to be reset.", "transient", D1_PAGE),
  row("Internal error in D1 DB storage caused object to be reset.", "transient", D1_PAGE),
  row("Can't read from request stream because client disconnected.", "transient", D1_PAGE),
  row("D1 DB storage operation exceeded timeout which caused object to be reset.", "transient", D1_PAGE),
  row("D1 DB is overloaded. Requests queued for too long.", "overloaded", D1_PAGE),
  row("D1 DB is overloaded. Too many requests queued.", "overloaded", D1_PAGE),
  row("D1 DB's isolate exceeded its memory limit and was reset.", "reset", D1_PAGE),
  row("D1 DB exceeded its CPU time limit and was reset.", "reset", D1_PAGE),
];

/** Errors about objects, by what happens to a call: refused before it starts, answer lost, or the object restarts during it. */
export const OBJECT_FAULTS = {
  /** The four overloads of an object, and those of an account; such errors have the flag `overloaded`. */
  refused: [
    row("Durable Object is overloaded. Too many requests queued.", "overloaded", OBJECTS_PAGE),
    row("Durable Object is overloaded. Too much data queued.", "overloaded", OBJECTS_PAGE),
    row("Durable Object is overloaded. Requests queued for too long.", "overloaded", OBJECTS_PAGE),
    row(
      "Durable Object is overloaded. Too many requests for the same object within a 10 second window.",
      "overloaded",
      OBJECTS_PAGE,
    ),
    row(
      "Your account is generating too much load on Durable Objects. Please back off and try again later.",
      "overloaded",
      OBJECTS_PAGE,
    ),
    row(
      "Your account is doing too many concurrent storage operations. Please back off and try again later.",
      "overloaded",
      OBJECTS_PAGE,
    ),
  ],
  lost: [row("Network connection lost.", "transient", RUNTIME)],
  reset: [
    row("Durable Object reset because its code was updated.", "transient", OBJECTS_PAGE),
    row(
      "Durable Object storage operation exceeded timeout which caused object to be reset.",
      "transient",
      OBJECTS_PAGE,
    ),
  ],
} as const satisfies Readonly<Record<string, readonly Fault[]>>;

export const ALL_FAULTS: readonly Fault[] = [...D1_FAULTS, ...Object.values(OBJECT_FAULTS).flat()];

/** The error messages of the objects' Worker, by what happens to a call. */
export const OBJECT_MESSAGES: Readonly<Record<keyof typeof OBJECT_FAULTS, readonly string[]>> = {
  refused: OBJECT_FAULTS.refused.map(({ message }) => message),
  lost: OBJECT_FAULTS.lost.map(({ message }) => message),
  reset: OBJECT_FAULTS.reset.map(({ message }) => message),
};
