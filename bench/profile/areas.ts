// Assigns each sample of a profile to an area, a part of a request. The first area that matches is used.

export interface SourceArea {
  readonly functionName: string;
  /** Path in the repository, or `cloudflare-internal:...`; undefined for the runtime's native work. */
  readonly file: string | undefined;
}

interface Area {
  readonly name: string;
  readonly file?: RegExp;
  readonly functionName?: RegExp;
}

/** V8's names for things that are not functions. */
const OUTSIDE = new Set(["(idle)", "(program)", "(garbage collector)", "(root)"]);

const AREAS: readonly Area[] = [
  { name: "json of D1's answers", file: /^cloudflare-internal:d1-api/, functionName: /^toJson$/ },
  { name: "D1 calls", file: /^cloudflare-internal:d1-api/ },
  { name: "json", functionName: /^json(Parse|Stringify)$/ },
  { name: "crypto", functionName: /^(digest|sign|verify|importKey|encrypt|decrypt|getRandomValues|timingSafeEqual)$/ },
  { name: "crypto", file: /node_modules\/(@noble|@scure|viem)\/|^src\/lib\/(hmac|seal|keyring|bytes)\.ts/ },
  { name: "router", file: /node_modules\/hono\/|^src\/platform\/http\/route\.ts|^src\/app\/app\.ts/ },
  { name: "validation", file: /node_modules\/(zod|@hono\/zod-validator)\/|\/validate\.ts|\/contract\.ts/ },
  {
    name: "validation",
    file: /^src\/chains\/(secret-material|recovery-phrase)\.ts|^src\/lib\/(fields|plain-text)\.ts/,
  },
  { name: "drizzle", file: /node_modules\/drizzle-orm\// },
  { name: "groups", file: /^src\/platform\/db\/(groups|gatherer|request-group|joined-statements|commit-batch)\.ts/ },
  {
    name: "groups",
    file: /^src\/app\/merchant-|^src\/platform\/db\/(conflict|retry)\.ts|^src\/lib\/(sleep|turns)\.ts/,
  },
  { name: "statements", file: /^src\/platform\/db\// },
  { name: "request and reply", file: /^src\/platform\/http\/|^src\/lib\/(read-bytes|typed-json|log)\.ts/ },
  { name: "access, limits", file: /^src\/accounts\// },
  { name: "events, audit, keys", file: /^src\/(platform\/(events|audit|changes|idempotency)|notifications)\// },
  { name: "deciding (commerce)", file: /^src\/(commerce|rates|chains|detection)\// },
  { name: "ours, the rest", file: /^src\// },
  { name: "libraries, the rest", file: /node_modules\// },
];

/** The area of a function, or, for the runtime's native work, of its `caller`. */
export function areaOf(place: SourceArea, caller: SourceArea | undefined): string {
  if (OUTSIDE.has(place.functionName)) return place.functionName;
  const area = AREAS.find((each) => matches(each, place));
  if (area !== undefined) return area.name;
  return caller === undefined ? "(runtime)" : areaOf(caller, undefined);
}

function matches({ file, functionName }: Area, place: SourceArea): boolean {
  if (functionName !== undefined && !functionName.test(place.functionName)) return false;
  return file === undefined || (place.file !== undefined && file.test(place.file));
}
