// Counts what happened to a schedule's batches, so that a campaign can show that it exercised each kind.
import type { Db } from "../../../src/platform/db/client.ts";
import { faultKind } from "../../../src/platform/db/retry.ts";
import type { FailureCode } from "../../../src/platform/failures.ts";
import { FAULT_NOTES, type World } from "../engine/world.ts";
import { CHANGES } from "./groups-acts.ts";

interface Sent {
  readonly sql: string;
  readonly params: readonly unknown[];
}

const SIZES: readonly { readonly most: number; readonly name: string }[] = [
  { most: 1, name: "1" },
  { most: 4, name: "2 to 4" },
  { most: 16, name: "5 to 16" },
  { most: 63, name: "17 to 63" },
  { most: 64, name: "64" },
];

/** The bucket of a group's size. */
export function sizeName(size: number): string {
  return SIZES.find(({ most }) => size <= most)?.name ?? "more";
}

/** The shared calls of a group's requests, by name. */
export const QUESTIONS = ["allocate", "amounts", "further reads", "take"];

const REFUSALS: readonly FailureCode[] = [
  "STORAGE_UNAVAILABLE",
  "OPERATION_IN_PROGRESS",
  "IDEMPOTENCY_KEY_REUSED",
  "UNAUTHORIZED",
  "EXTERNAL_ID_EXISTS",
  "TOO_MANY_ACTIVE_INVOICES",
  "INVOICE_NOT_PAYABLE",
  "INVOICE_NOT_CANCELLABLE",
  "INVOICE_NOT_RESOLVABLE",
  "NOTHING_TO_REVIEW",
];

/** The situations that a campaign of groups must have exercised. */
export const KINDS: readonly string[] = [
  ...[...SIZES.map(({ name }) => name), "more"].map((name) => `keys: ${name}`),
  ...SIZES.map(({ name }) => `group of ${name} commits`),
  // Groups of the largest size are too rare to meet every fault.
  ...SIZES.slice(0, -1).flatMap(({ name }) => [
    `group of ${name} is refused for a row`,
    `group of ${name} gets no answer`,
  ]),
  ...["a customer", "an operation"].map((what) => `a group is refused for ${what} that exists`),
  "a group is sent again",
  "browsers and servers in a group",
  "an index is asked for again",
  "an operation is taken over",
  "an answer is replayed",
  "the object dies with one request",
  "the object dies with several requests",
  ...["unique", "assertion"].map((kind) => `a change is decided again after ${kind}`),
  "no fault at all",
  // Two instances at once; the first may run the previous release.
  "an instance is replaced and still reads",
  "an instance is replaced and loses its storage",
  "a request comes to an instance that was replaced",
  "the release before is asked for a copy",
  ...FAULT_NOTES,
  ...["create", ...CHANGES].flatMap((act) =>
    ["success", "refused", "unknown"].map((answer) => `answered: ${act} ${answer}`),
  ),
  "answered: revoke success",
  ...CHANGES.flatMap((act) =>
    ["beside the groups", "with two bodies", "without a key"].map((how) => `sent: ${act} ${how}`),
  ),
  ...["with two bodies", "without a key", "with an external id", "of a browser"].map((how) => `sent: create ${how}`),
  ...REFUSALS.map((code) => `a request is refused: ${code}`),
];

const OUTCOMES: readonly { readonly message: RegExp; readonly name: (size: string) => string }[] = [
  { message: /UNIQUE constraint failed: customers/, name: () => "a group is refused for a customer that exists" },
  { message: /UNIQUE constraint failed: operations/, name: () => "a group is refused for an operation that exists" },
  { message: /NOT NULL/, name: (size) => `group of ${size} is refused for a row` },
];

/** The most browser requests in one group. */
const MOST_PUBLIC = 16;
/** Notes that must not occur. */
export const CROWDING = {
  browsers: `more than ${MOST_PUBLIC} browsers in a group`,
  order: "a browser goes before a server",
};

/** Wraps the client so that its batches of changes are counted by size and outcome, and their senders are checked. */
export function notingBatches(db: Db, world: World): Db {
  const d1 = db.$client;
  const sent = new Set<string>();
  const batch = (statements: D1PreparedStatement[]) => {
    const answer = d1.batch(statements);
    const marker = markerOf(statements as unknown as readonly Sent[]);
    if (marker === undefined) return answer;
    noteBrowsers(statements as unknown as readonly Sent[], world);
    const text = String(marker.params[0]);
    if (sent.has(text)) world.note("a group is sent again");
    sent.add(text);
    const size = sizeName(marker.sql.includes("json_each") ? JSON.parse(text).length : 1);
    answer.then(
      () => world.note(`group of ${size} commits`),
      (error: unknown) =>
        world.note(
          faultKind(error) === "other"
            ? (OUTCOMES.find(({ message }) => message.test(String(error)))?.name(size) ?? `${error}`)
            : `group of ${size} gets no answer`,
        ),
    );
    return answer;
  };
  return Object.assign(Object.create(db), { $client: Object.assign(Object.create(d1), { batch }) });
}

/** The rows of the events are in the order of the requests, and each shows who sent its request. */
function noteBrowsers(statements: readonly Sent[], world: World): void {
  const isPublic = statements
    .filter(({ sql }) => sql.startsWith('insert into "events"'))
    .flatMap(({ params }) => [...params.join(" ").matchAll(/"isPublic\\?":(true|false)/g)])
    .map(([, is]) => is === "true");
  const browsers = isPublic.filter((is) => is).length;
  if (browsers > MOST_PUBLIC) world.note(CROWDING.browsers);
  if (browsers === 0 || browsers === isPublic.length) return;
  world.note("browsers and servers in a group");
  if (isPublic.lastIndexOf(false) > isPublic.indexOf(true)) world.note(CROWDING.order);
}

/** The statement that inserts the operations; a batch of reads has none. */
function markerOf(statements: readonly Sent[]): Sent | undefined {
  return statements.find(({ sql }) => sql.startsWith('insert into "operations"'));
}
