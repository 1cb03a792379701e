// Words and forms that make our English read like a translation, and what to write instead. Prose is checked: comments, messages, texts of the
// console and titles of tests. Quoted text, code in backticks and placeholders of templates are not prose.

/** A word or a form to avoid. */
interface OddWord {
  readonly form: RegExp;
  /** What to write instead. */
  readonly instead: string;
}

export const ODD_WORDS: readonly OddWord[] = [
  // Dated words.
  { form: /\b(?:begins?|begun|starts?|started) anew\b/i, instead: "starts over" },
  { form: /\banew\b|\bafresh\b/i, instead: "again" },
  { form: /\bin vain\b/i, instead: "without effect" },
  { form: /\bfor want of\b/i, instead: "for lack of, because there is no" },
  { form: /\bbef(?:all|alls|ell|allen)\b/i, instead: "happen to" },
  { form: /\bbeside\b/i, instead: "next to, alongside; besides" },
  { form: /\bfor ever\b/i, instead: "forever" },
  { form: /\bnow and then\b/i, instead: "occasionally, every few seconds" },
  { form: /\bstead\b/i, instead: "instead of" },
  { form: /\b(?:lest|whence|thereof|hitherto|wherein|naught|thither|amid)\b/i, instead: "a word of today" },
  { form: /\b(?:but for (?:the|what|that|those|its|an?)|save for)\b/i, instead: "except" },
  { form: /\bmend(?:s|ed|ing)?\b/i, instead: "fix, correct" },
  { form: /\bhears?\b|\bheard\b/i, instead: "receives, is notified of" },
  { form: /(?<![\w/.-])(?:doors?|knock(?:s|ed|ing)?|calm|eyes?|stray)(?![\w/-]|\.\w)/i, instead: "the technical word" },
  { form: /(?<![\w/.-])house(?![\w/-]|\.\w)/, instead: "the project, the code" },
  // People.
  { form: /\b(?:[Ss]ome|[Aa]ny|[Ee]very)body\b/, instead: "someone, anyone, everyone; or who it is: a user, a caller" },
  { form: /\bwhoever\b/i, instead: "anyone who; or who it is: the operator" },
  { form: /\bwhichever\b(?! (?:is|are|was|were|comes?|came)\b)/i, instead: "no matter which, any" },
  {
    form: /\b(?:is|are|was|were|be|been|being) told(?! (?:apart|to|that|why|when|which|how)\b)\b|\btold (?:of|about)\b/i,
    instead: "is notified, is sent, is shown",
  },
  { form: /\b(?:tells?|telling) (?:of|nothing)\b/i, instead: "reports, shows" },
  // Constructions from another language.
  { form: /\bany more\b(?! \w+s\b)/i, instead: "no longer" },
  { form: /\bbec[ao]mes? of\b/i, instead: "happens to; the result of" },
  {
    form: /(?<!\b(?:one|two|three|four|five|both|all|some|none|each|most|many|any|either|neither|half|quarter|\w+th|parts?|instead|independent) )\bof which\b/i,
    instead: "whose; or a sentence of its own",
  },
  {
    form: /\b(?:for|after|of|with|in|only|within|at most|no) so (?:long|many|much|often)\b(?!,? (?:as|that)\b)/i,
    instead: "this long, this many",
  },
  {
    form: /(?:^|[.:;] )So (?:long|many|much|often)\b(?!.{0,40}\b(?:that|as)\b)/,
    instead: "this long, this many, the amount",
  },
  {
    form: /\b(?:comes?|came|paid) in time\b/i,
    instead: "on time, fast enough",
  },
  {
    form: /\b(?:go(?:es)?|went) on behind\b|\b[Bb]ehind (?:it|them|that|this|the|an?|each|every|these|those) (?:\w+ )?(?:statement|insert|index|place|row|line|last|number|event|select|comma|slash|plus|word|space|id|name|price|item)s?\b/,
    instead: "after",
  },
  {
    form: /\b(?:go(?:es)?|going|went|gone) on (?:where|from|by itself|behind|until|there|then|with)\b|\bto go on\b|\bgoes on[.;,]/i,
    instead: "continues",
  },
  {
    form: /^Of (?!course\b|(?:two|three|several|the|all|those|these|each)\b[^.]*, )(?=[a-z`])/,
    instead: "the noun that is left out: 'The size of ...', 'For a ...'",
  },
  {
    form: /^As (?:it|they|that|those|these) (?:was|were|is|are|stands?|has|have)\b/,
    instead: "'The current ...', 'Like ...'",
  },
  {
    form: /(?<!\bthere )\b(?:is|are|was|were) none\b(?! of (?:the|its|them|these|those|us)\b)/i,
    instead: "is not one, is empty",
  },
  {
    form: /\b(?:it|that|this|which|what|they|who|one|name|text|value) (?:is|are|was) no (?!longer\b|more\b|need\b|reason\b|way\b|other\b|such\b|doubt\b|use\b|one\b|different\b|better\b|worse\b|room\b|\w+er than\b)\w+/i,
    instead: "is not a",
  },
  {
    form: /\b(?:null|undefined|absent|empty|false|true|throws|none|refuses|fails|once) where (?:it|they|there|no|none|nothing|the|an?|one|some|that|not)\b/i,
    instead: "if ('where' is for places)",
  },
  { form: /\b(?:put|puts|putting|brought|brings?) back\b/i, instead: "restore, recover, undo" },
  { form: /\brelease before\b/i, instead: "the previous release" },
  { form: /\b(?:that|which|it|one|they) (?:has|have|had) not(?= *(?:[.,;:)]|$))/i, instead: "does not have, lacks" },
  { form: /\b(?:is|are|be) so (?:already|still|again)\b|\bstill (?:is|are) so\b/i, instead: "is already the case" },
  {
    form: /\b(?:says?|said|told|asked?|decides?|decided|remembers|expects) of\b|\b(?:is|are|was) known of\b/i,
    instead: "about, from",
  },
  { form: /\bin the order of the alphabet\b/i, instead: "in alphabetical order" },
  { form: /\bcan be had\b|\b(?:is|are) to be had\b/i, instead: "is available" },
  { form: /\b(?:that|which|what|who) (?:is|are|was|were) (?:already )?there\b/i, instead: "existing, exists" },
  { form: /\b[Aa]nother(?: \w+){0,2} than\b/, instead: "a different ... from, a ... other than" },
  { form: /\b(?:each|every|every one|any) (?:\w+ )?but\b(?! not)/i, instead: "except" },
  { form: /\buntil then its\b|\binstead of it why\b/i, instead: "a whole sentence" },
  { form: /\bonly few\b/i, instead: "only a few" },
  {
    form: /\b(?:pass|run|worker|watcher|client|invocation|caller)(?:e?s)? (?:that )?(?:dies|died|die)\b|\bdead (?:worker|client|source)\b/i,
    instead: "crashes, ends, has failed",
  },
  { form: /\bsome (?:ten|twenty|thirty|fifty|hundred)\b/i, instead: "about ten" },
  { form: /\bread otherwise\b/i, instead: "differ" },
  { form: /\b(?:is|are|was|were) looked at\b/i, instead: "is examined, is read" },
  { form: /\bof the meantime\b/i, instead: "made meanwhile, during the pause" },
  { form: /\b(?:what|nothing|something) came of\b/i, instead: "the result, what happened" },
  { form: /\bspeaks? the API\b/i, instead: "uses the API, is connected through it" },
  { form: /\bbegins? so\b/i, instead: "starts with it, matches" },
  { form: /\basked (?:it )?last\b/i, instead: "the last request" },
];

/** A piece of prose, and the line on which it begins. */
export interface Prose {
  readonly line: number;
  readonly text: string;
}

/** The odd forms in a text, in the spelling of the text. */
export function oddWordsIn(text: string): readonly { readonly found: string; readonly instead: string }[] {
  const prose = text.replaceAll(/`[^`]*`/g, "`x`").replaceAll(/"[^"]*"/g, '"x"');
  return ODD_WORDS.flatMap(({ form, instead }) => {
    const [found] = form.exec(prose) ?? [];
    return found === undefined ? [] : [{ found: found.trim(), instead }];
  });
}

/** The comments of a source, each as one line, including those that follow code on the same line. */
export function commentsIn(source: string): readonly Prose[] {
  const found: { line: number; kind: string; texts: string[] }[] = [];
  let isInBlock = false;
  for (const [at, line] of source.split("\n").entries()) {
    const last = found.at(-1);
    const [, slashes] = /^\s*\/\/ ?(.*)$/.exec(line) ?? [];
    const [, opened] = /^\s*\{?\/\*+ ?(.*)$/.exec(line) ?? [];
    const [, trailing] = /^.*[;,{([)\w"`'}\]] \/\/ (.*)$/.exec(line) ?? [];
    if (isInBlock) last?.texts.push(line.replace(/^\s*\*(?!\/) ?/, ""));
    else if (slashes !== undefined && last?.kind === "//" && last.line + last.texts.length === at + 1)
      last.texts.push(slashes);
    else if (slashes !== undefined) found.push({ line: at + 1, kind: "//", texts: [slashes] });
    else if (opened !== undefined) found.push({ line: at + 1, kind: "/*", texts: [opened] });
    else if (trailing !== undefined) found.push({ line: at + 1, kind: "trailing", texts: [trailing] });
    isInBlock = (isInBlock || opened !== undefined) && !line.includes("*/");
  }
  return found.map(({ line, texts }) => ({ line, text: oneLine(texts.join(" ").replace(/\*\/.*$/, "")) }));
}

/** Texts of at least four words in a source's string literals, without SQL. A literal over several lines is left out. */
export function messagesIn(source: string): readonly Prose[] {
  return withoutComments(source)
    .split("\n")
    .flatMap((line, at) =>
      [...line.matchAll(/"((?:[^"\\]|\\.)*)"|(?<!sql)`((?:[^`\\]|\\.)*)`/g)]
        .map(([, quoted, template]) => ({ line: at + 1, text: filled(quoted ?? template ?? "") }))
        .filter(({ text }) => isProse(text)),
    );
}

/** Texts between the elements of a `.tsx` file. Declarations, which also end before braces, are left out. */
export function elementTextsIn(source: string): readonly Prose[] {
  return matchesIn(withoutComments(source), /(?<=[>}])([^<>{}=;]*[a-z] [^<>{}=;]*)(?=[<{])/g).filter(
    ({ text }) => isProse(text) && !/^(?:export )?(?:interface|function|const|type) /.test(text),
  );
}

/** Titles of tests and of groups of tests. */
export function titlesIn(source: string): readonly Prose[] {
  const code = withoutComments(source);
  return [
    ...matchesIn(code, /\b(?:it|test|describe\w*)(?:\.\w+)*(?:\([^"'`]*?\))?\(\s*["'`]((?:\\.|[^"`\\])*)["'`]/g),
    ...matchesIn(code, /\)\(\s*["`]((?:\\.|[^"`\\])*)["`],\s*(?:async )?[({]/g),
  ];
}

function matchesIn(source: string, form: RegExp): readonly Prose[] {
  return [...source.matchAll(form)].map(({ index, 1: text = "" }) => ({
    line: source.slice(0, index + (/^\s*/.exec(text)?.[0].length ?? 0)).split("\n").length,
    text: oneLine(filled(text)),
  }));
}

function withoutComments(source: string): string {
  return source
    .replaceAll(/^\s*\/\/.*$/gm, "")
    .replaceAll(/\/\*[\s\S]*?\*\//g, (comment) => comment.replaceAll(/[^\n]/g, " "));
}

/** Placeholders of templates are not prose. */
function filled(text: string): string {
  return text.replaceAll(/\$\{[^}]*\}/g, "…").replaceAll('\\"', '"');
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

function isProse(text: string): boolean {
  return (
    text.trim().split(" ").length > 3 &&
    !/\b(?:SELECT|INSERT|UPDATE|DELETE|CREATE)\b|\bselect .* from\b|\b(?:cross join|order by|group by)\b/.test(text)
  );
}
