// Counts what the batches of a schedule went through, so that a campaign shows that it has exercised each kind.
import type { Db } from "../../../src/platform/db/client.ts";
import type { World } from "../engine/world.ts";

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

/** Everything that a campaign of groups must have exercised. */
export const KINDS: readonly string[] = [
  ...[...SIZES.map(({ name }) => name), "more"].map((name) => `keys: ${name}`),
  ...SIZES.map(({ name }) => `group of ${name} commits`),
  // Whole groups are too rare for every fault.
  ...SIZES.slice(0, -1).flatMap(({ name }) => [
    `group of ${name} is refused for a row`,
    `group of ${name} gets no answer`,
  ]),
  ...["a customer", "an operation"].map((what) => `a group is refused for ${what} that exists`),
  "a group is sent again",
  "an index is asked for again",
  "an operation is taken over",
  "an answer is replayed",
  "the object dies with one request",
  "the object dies with several requests",
  ...["unique", "assertion"].map((kind) => `a change is decided again after ${kind}`),
  ...["STORAGE_UNAVAILABLE", "OPERATION_IN_PROGRESS"].map((code) => `a request is refused: ${code}`),
  "no fault at all",
  "browsers and servers in a group",
];

const OUTCOMES: readonly { readonly message: RegExp; readonly name: (size: string) => string }[] = [
  { message: /UNIQUE constraint failed: customers/, name: () => "a group is refused for a customer that exists" },
  { message: /UNIQUE constraint failed: operations/, name: () => "a group is refused for an operation that exists" },
  { message: /NOT NULL/, name: (size) => `group of ${size} is refused for a row` },
  { message: /connection lost|overloaded/, name: (size) => `group of ${size} gets no answer` },
];

/** Most requests of browsers in one group. */
const MOST_PUBLIC = 16;
export const TOO_MANY_BROWSERS = `more than ${MOST_PUBLIC} browsers in a group`;
export const BROWSER_FIRST = "a browser goes before a server";

/** The same client, whose batches of changes are counted by size and outcome, and looked at for who is in them. */
export function notingBatches(db: Db, world: World, isPublic: (key: string) => boolean): Db {
  const d1 = db.$client;
  const sent = new Set<string>();
  const batch = (statements: D1PreparedStatement[]) => {
    const answer = d1.batch(statements);
    const marker = markerOf(statements as unknown as readonly Sent[]);
    if (marker === undefined) return answer;
    const text = String(marker.params[0]);
    noteBrowsers(statements as unknown as readonly Sent[], world, isPublic);
    if (sent.has(text)) world.note("a group is sent again");
    sent.add(text);
    const size = sizeName(marker.sql.includes("json_each") ? JSON.parse(text).length : 1);
    answer.then(
      () => world.note(`group of ${size} commits`),
      (error: unknown) =>
        world.note(OUTCOMES.find(({ message }) => message.test(String(error)))?.name(size) ?? `${error}`),
    );
    return answer;
  };
  return Object.assign(Object.create(db), { $client: Object.assign(Object.create(d1), { batch }) });
}

function noteBrowsers(statements: readonly Sent[], world: World, isPublic: (key: string) => boolean): void {
  const keys = statements
    .filter(({ sql }) => sql.startsWith('insert into "events"'))
    .flatMap(({ params }) =>
      [...String(params.join(" ")).matchAll(/\\?"key\\?":\\?"(key \d+)\\?"/g)].map(([, key = ""]) => key),
    );
  const browsers = keys.map(isPublic);
  if (browsers.some(Boolean) && !browsers.every(Boolean)) world.note("browsers and servers in a group");
  if (browsers.filter(Boolean).length > MOST_PUBLIC) world.note(TOO_MANY_BROWSERS);
  if (browsers.some((one, n) => !one && browsers.slice(0, n).includes(true))) world.note(BROWSER_FIRST);
}

/** The insert of the operations; a batch of reads has none. */
function markerOf(statements: readonly Sent[]): Sent | undefined {
  return statements.find(({ sql }) => sql.startsWith('insert into "operations"'));
}
