// Our English must be what an engineer would say. Words and forms that read like a translation fail here (support/odd-words.ts).
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  commentsIn,
  elementTextsIn,
  messagesIn,
  ODD_WORDS,
  oddWordsIn,
  type Prose,
  titlesIn,
} from "../support/odd-words.ts";

const ROOT = join(import.meta.dirname, "../..");
const OTHERS_WORDS = /\.generated\.|node_modules\/|\/dist\/|^test\/(?:unit\/words\.test|support\/odd-words)\.ts$/;

interface Area {
  readonly name: string;
  readonly files: readonly string[];
  readonly read: (source: string) => readonly Prose[];
}

const AREAS: readonly Area[] = [
  {
    name: "comments of the service and its client",
    files: ["src/**/*.{ts,tsx,js}", "client/**/*.{ts,mjs}"],
    read: commentsIn,
  },
  {
    name: "messages, descriptions and mails",
    files: ["src/**/*.{ts,tsx}", "client/**/*.ts", "scripts/error-texts/*.ts"],
    read: messagesIn,
  },
  {
    name: "comments of tests, scripts and benchmarks",
    files: ["test/**/*.{ts,tsx,mjs}", "scripts/**/*.{ts,mjs}", "bench/**/*.ts"],
    read: commentsIn,
  },
  { name: "titles of tests", files: ["test/**/*.test.{ts,tsx}"], read: titlesIn },
  { name: "comments of the console", files: ["dashboard/src/**/*.{ts,tsx}"], read: commentsIn },
  { name: "texts of the console", files: ["dashboard/src/**/*.{ts,tsx}"], read: messagesIn },
  { name: "texts between the console's elements", files: ["dashboard/src/**/*.tsx"], read: elementTextsIn },
];

/** Texts that may contain an odd word, in full. */
const ALLOWED: readonly { readonly path: string; readonly text: string; readonly why: string }[] = [
  {
    path: "src/platform/texts/en.ts",
    text: "Nothing arrived in time. Do not send anything to this address any more; ask {shop} for a new invoice.",
    why: "a text of the checkout, which its ten languages translate",
  },
];

interface Found {
  readonly path: string;
  readonly text: string;
  readonly problem: string;
}

function foundIn({ files, read }: Area): readonly Found[] {
  const paths = globSync([...files], { cwd: ROOT }).map((path) => path.replaceAll("\\", "/"));
  expect(paths).not.toEqual([]);
  return paths
    .filter((path) => !OTHERS_WORDS.test(path))
    .flatMap((path) =>
      read(readFileSync(join(ROOT, path), "utf8")).flatMap(({ line, text }) =>
        oddWordsIn(text).map(({ found, instead }) => ({
          path,
          text,
          problem: `${path}:${line}: "${text}" says "${found}"; write: ${instead}`,
        })),
      ),
    );
}

const isAllowed = ({ path, text }: Found) => ALLOWED.some((allowed) => allowed.path === path && allowed.text === text);

describe("the project's English", () => {
  it.each(AREAS)("has no odd words in $name", (area) => {
    expect(foundIn(area).flatMap((found) => (isAllowed(found) ? [] : [found.problem]))).toEqual([]);
  });

  it("has few allowed odd words, all of which still occur", () => {
    const found = AREAS.flatMap(foundIn);
    const unused = ALLOWED.filter(({ path, text }) => !found.some((each) => each.path === path && each.text === text));
    expect(unused).toEqual([]);
    expect(ALLOWED.length).toBeLessThan(10);
  });
});

/** Sentences from release 2's comments, console texts and test titles, each with what is odd in it. */
const OF_RELEASE_2: readonly (readonly [sentence: string, found: string])[] = [
  ["So much too much is not yet overpaid", "So much"],
  ["It answered 410 Gone, which means that it wants nothing any more.", "any more"],
  ["Connect your shop: keys that call the API, endpoints that hear what happens.", "hear"],
  ["What was read; until then its outline, and instead of it why it could not be read.", "until then its"],
  ["The session is over: what was read belongs to nobody any more, so the page is loaded anew.", "anew"],
  ["a request refused for want of a wallet succeeds under its key once there is one", "for want of"],
  ["The newest day first, beside the day as long before the period.", "beside"],
  ["A chain ends here whatever it leaves: a job that finds more for ever would run for ever.", "for ever"],
  ["The watcher asks for a little more each time, and so fails now and then.", "now and then"],
  ["Changes after which the merchant is not the user's any more.", "any more"],
  ["`deps` are asked for once somebody looks.", "somebody"],
  ["Fields that whoever may not change them can only read.", "whoever"],
  ["finds every paying transaction, whatever comes and goes and whichever address is asked for", "whichever"],
  ["Another run may begin from then on, whatever became of this one; 0 once it has ended.", "became of"],
  ["The permissions of which each is enough.", "of which"],
  ["The settings of the deployment's status, what it is read from, and who is told of it.", "is told"],
  ["`*` hears everything.", "hears"],
  ["After so many turns in which nobody arrived, those who were on their way are there.", "After so many"],
  ["Too little came in time: the rest can be paid if the shop accepts it.", "came in time"],
  ["What has come behind the last record with an id; it comes again after a lost connection.", "behind the last"],
  ["Opens when a call needs a fresh factor. Once it is given, the call goes on by itself.", "goes on by itself"],
  ["Of a call that creates something: the same for each attempt of one intent.", "Of"],
  ["As it was when the place was shown.", "As it was"],
  ["Makes an operator a plain user; aborts the batch if they are none any more, or the last.", "are none"],
  ["The file as a data URL that the service takes; throws if it is no picture.", "it is no picture"],
  ["False where a repeated call is refused: codes work once.", "False where a"],
  ["What objects hold since the restored minute, as items that an import puts back one by one.", "puts back"],
  ["Also where our own secret is wrong, which only the operator can mend.", "mend"],
  ["What it asked of D1; absent from an object that still runs the release before.", "release before"],
  [
    "Whether the invoice shows another address by now, or the place is for the rest of a method that it has not.",
    "it has not",
  ],
  [
    "What a stranger reaches before a set-up link is redeemed: every route of the access table is knocked at, in a production Worker.",
    "knocked",
  ],
  ["It ends the event's data but for a brace.", "but for a"],
  ["Sets whether the merchant is suspended; writes nothing if it is so already.", "is so already"],
  ["Tells of what has happened, and of endpoints that begin to fail, which is no event.", "Tells of"],
  ["`Chrome on Windows`, from what a browser says of itself.", "says of"],
  ["The last lines, in the order of the alphabet.", "in the order of the alphabet"],
  [
    "A payment is credited also while no amount can be had for the rest; the next read of the invoice asks for one again.",
    "can be had",
  ],
  ["The same for a method, or an amount, of an invoice that is there.", "that is there"],
  [
    "The row after a read through another source than the one that refuses it: updates the progress, but not the due time.",
    "another source than",
  ],
  ["any error but an outage of the key endpoint means that the signature is not the provider's", "any error but"],
  ["A source that answers only few requests is not asked again at once.", "only few"],
  ["A receipt is leased while it is sent, so that a run that dies delays it but does not lose it.", "run that dies"],
  ["It is fast; a test run starts some twenty servers.", "some twenty"],
  ["Lines of the sources that read otherwise in a copy.", "read otherwise"],
  ["More than a long day makes: the limit is not what is looked at.", "is looked at"],
  ["Payments of the meantime are found and count as of their own time.", "of the meantime"],
  ["The customer has paid. See below what came of it.", "what came of"],
  ["Shops that speak the API of BTCPay Server take it for settled.", "speak the API"],
  ["No invoice begins so", "begins so"],
  ["no failure when it was asked last", "asked last"],
];

describe("the check of words", () => {
  it.each(OF_RELEASE_2)("finds what is odd in a sentence of release 2: %s", (sentence, found) => {
    expect(oddWordsIn(sentence).map((each) => each.found)).toContain(found);
  });

  it.each([
    "Earliest due time before `beforeMs`; ignores claimed deliveries.",
    "Undefined if there is none. Returns as many as there are.",
    "Of two concurrent redeemers, only one commits.",
    "Of course it may be repeated.",
    "A source is behind the cursor, and the request came through a proxy behind the edge.",
    "The fingerprint is computed where the key is used.",
    "It is no longer due, and there is no need to ask.",
    "Repeated for so long that the lease ends.",
    "147 amounts, a quarter of which is 36, the ninth of which warns; independent of which source answers.",
    "The caller is told when to retry, that it was refused, and why.",
    "Throws if the source does not answer in time.",
    "Two of which both are unset; any more rows are left out.",
    "Whichever is larger. The order in which they are told apart.",
    'Named `anew` and "somebody", in test/support/access-knock.ts and src/app/eyes/routes.ts.',
    "Retries once the limit is over, so many callers wait at most a minute.",
  ])("lets plain English pass: %s", (sentence) => {
    expect(oddWordsIn(sentence)).toEqual([]);
  });

  it("states for each form what to write instead", () => {
    expect(ODD_WORDS.filter(({ instead }) => instead.length < 3)).toEqual([]);
    for (const { form } of ODD_WORDS) expect(form.global || form.sticky).toBe(false);
  });
});

const SOURCE = `// First
// goes on.
const a = "not a comment // at all of it"; // trailing
/** One line. */
/**
 * Two
 * lines.
 */
export const b = \`the \${a} is quoted here\`;
const c = sql\`select id from table where x\`;
it("is a title", () => {});
it.each([
  ["x", "that is no title"],
])("is %s in a table", (x) => {});
`;

describe("extracting prose", () => {
  it("finds comments with their lines, and joins those that continue", () => {
    expect(commentsIn(SOURCE)).toEqual([
      { line: 1, text: "First goes on." },
      { line: 3, text: "trailing" },
      { line: 4, text: "One line." },
      { line: 5, text: "Two lines." },
    ]);
  });

  it("finds the texts of at least four words, without comments and SQL", () => {
    expect(messagesIn(SOURCE)).toEqual([
      { line: 3, text: "not a comment // at all of it" },
      { line: 9, text: "the … is quoted here" },
      { line: 13, text: "that is no title" },
      { line: 14, text: "is %s in a table" },
    ]);
  });

  it("finds test titles, including those of it.each", () => {
    expect(titlesIn(SOURCE)).toEqual([
      { line: 11, text: "is a title" },
      { line: 14, text: "is %s in a table" },
    ]);
  });

  it("finds the text inside JSX elements", () => {
    const page = "const a = (\n  <p>\n    Nobody has\n    paid this yet.\n  </p>\n);\n";
    expect(elementTextsIn(page)).toEqual([{ line: 3, text: "Nobody has paid this yet." }]);
  });
});
