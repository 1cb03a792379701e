// Free JSON as an invoice's metadata. Ours is strings by name, so a string member stays as it is, readable in the console and in our API, and any other becomes
// its JSON text; one more member lists those. So no extra column is needed, and what comes back is what was sent.
import { isObject, type Json } from "../../lib/typed-json.ts";

export type Metadata = Readonly<Record<string, Json>>;
type OwnMetadata = Readonly<Record<string, string>>;

/** Names with this prefix are ours; a shop's name that starts with it gets it twice. */
const PREFIX = "greenfield:";
const JSON_NAMES = `${PREFIX}json`;
const ARCHIVED = `${PREFIX}archived`;

interface Noted {
  readonly metadata: Metadata;
  /** Whether the shop has archived the invoice: lists leave it out. */
  readonly isArchived: boolean;
}

export function isMetadata(value: unknown): value is Metadata {
  return isObject(value);
}

export function packed({ metadata, isArchived }: Noted): OwnMetadata {
  const members = Object.entries(metadata).map(([name, value]) => ({
    name: name.startsWith(PREFIX) ? `${PREFIX}${name}` : name,
    value,
  }));
  const names = members.filter(({ value }) => typeof value !== "string").map(({ name }) => name);
  return Object.fromEntries([
    ...members.map(({ name, value }) => [name, typeof value === "string" ? value : JSON.stringify(value)]),
    ...(names.length === 0 ? [] : [[JSON_NAMES, JSON.stringify(names)]]),
    ...(isArchived ? [[ARCHIVED, "true"]] : []),
  ]);
}

/** Also for metadata that our own API wrote: all texts. */
export function unpacked(own: OwnMetadata | null): Noted {
  const all = Object.entries(own ?? {});
  const isOurs = (name: string) => name === JSON_NAMES || name === ARCHIVED;
  const names = parsed(own?.[JSON_NAMES] ?? "[]");
  const members = all
    .filter(([name]) => !isOurs(name))
    .map(([name, text]): [string, Json] => [
      name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name,
      Array.isArray(names) && names.includes(name) ? parsed(text) : text,
    ]);
  return { metadata: Object.fromEntries(members), isArchived: own?.[ARCHIVED] === "true" };
}

/** Our own API may have written a different string since; that stays a string. */
function parsed(text: string): Json {
  try {
    const value: Json = JSON.parse(text);
    return value;
  } catch {
    return text;
  }
}
