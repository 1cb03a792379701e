// Stores a shop's free JSON as an invoice's metadata. Our own metadata maps names to strings, so a string member is stored unchanged, readable in the
// console and in our API. Any other member is stored as its JSON text, and one more member lists the names of these members. No extra column is
// needed, and a read returns exactly what was sent.
import { isObject, type Json } from "../../lib/typed-json.ts";

export type Metadata = Readonly<Record<string, Json>>;
type OwnMetadata = Readonly<Record<string, string>>;

/** Names with this prefix are reserved. If a shop's own name starts with it, the prefix is stored twice. */
const PREFIX = "greenfield:";
const JSON_NAMES = `${PREFIX}json`;
const ARCHIVED = `${PREFIX}archived`;

interface Noted {
  readonly metadata: Metadata;
  /** Whether the shop has archived the invoice: lists then leave it out. */
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

/** Also reads metadata written through our own API, which has only strings. */
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

/** A text that is no longer JSON, because it was replaced through our own API, stays a string. */
function parsed(text: string): Json {
  try {
    const value: Json = JSON.parse(text);
    return value;
  } catch {
    return text;
  }
}
