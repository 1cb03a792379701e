// Unsent input of forms. It stays in this tab, for one user and one form, for at most a day: never in the browser's persistent storage, and never a
// secret, because each form names the fields to keep.
import { DAY_MS } from "../../../src/lib/time.ts";

const PREFIX = "edgetill-draft ";

interface DraftPlace {
  readonly userId: string;
  readonly merchantId: string;
  /** Identifies the form, and the object that it changes. */
  readonly form: string;
}

/** A field's value: a string, a selection of strings, or the state of a checkbox. */
type Field = string | boolean | readonly string[];
type Fields = { readonly [name: string]: Field };

interface Stored {
  readonly savedAtMs: number;
  readonly fields: Fields;
}

type Tab = Pick<Storage, "getItem" | "setItem" | "removeItem" | "key" | "length">;

/** Stores the fields that changed since the form was opened; deletes the draft if there are none. */
export function keepDraft(tab: Tab, place: DraftPlace, fields: Fields, nowMs: number): void {
  if (Object.keys(fields).length === 0) {
    tab.removeItem(keyOf(place));
    return;
  }
  try {
    const stored: Stored = { savedAtMs: nowMs, fields };
    tab.setItem(keyOf(place), JSON.stringify(stored));
  } catch {
    // The tab has no space for the draft, but the form still works.
  }
}

/** The kept fields; undefined without a draft. Deletes other users' drafts and old ones. */
export function draftIn(tab: Tab, place: DraftPlace, nowMs: number): Fields | undefined {
  for (const key of keysIn(tab)) {
    const isOwn = key.startsWith(`${PREFIX}${place.userId} `);
    if (!isOwn || nowMs - (storedAt(tab, key)?.savedAtMs ?? 0) > DAY_MS) tab.removeItem(key);
  }
  return storedAt(tab, keyOf(place))?.fields;
}

/** Called when a user signs out. */
export function forgetDrafts(tab: Tab): void {
  for (const key of keysIn(tab)) tab.removeItem(key);
}

/** The fields of `now` that are to be kept and differ from `before`. */
export function changesOf(before: object, now: object, kept: readonly string[]): Fields {
  const old = new Map<string, unknown>(Object.entries(before));
  const changed = Object.entries(now).filter(
    ([name, value]) => kept.includes(name) && isField(value) && JSON.stringify(old.get(name)) !== JSON.stringify(value),
  );
  return Object.fromEntries(changed);
}

/** The part of a draft that matches this form, because another release of the console may have written it. */
export function fitting(fields: Fields, form: object, kept: readonly string[]): Fields {
  const known = new Map<string, unknown>(Object.entries(form));
  const isLike = (one: unknown, other: unknown) =>
    typeof one === typeof other && Array.isArray(one) === Array.isArray(other);
  return Object.fromEntries(
    Object.entries(fields).filter(([name, value]) => kept.includes(name) && isLike(known.get(name), value)),
  );
}

function keyOf({ userId, merchantId, form }: DraftPlace): string {
  return `${PREFIX}${userId} ${merchantId} ${form}`;
}

function keysIn(tab: Tab): readonly string[] {
  const keys = Array.from({ length: tab.length }, (_, place) => tab.key(place) ?? "");
  return keys.filter((key) => key.startsWith(PREFIX));
}

function storedAt(tab: Tab, key: string): Stored | undefined {
  try {
    const stored: unknown = JSON.parse(tab.getItem(key) ?? "null");
    return isStored(stored) ? stored : undefined;
  } catch {
    return undefined;
  }
}

function isStored(value: unknown): value is Stored {
  if (typeof value !== "object" || value === null || !("savedAtMs" in value) || !("fields" in value)) return false;
  const { savedAtMs, fields } = value;
  return (
    typeof savedAtMs === "number" &&
    typeof fields === "object" &&
    fields !== null &&
    Object.values(fields).every((field) => isField(field))
  );
}

function isField(value: unknown): value is Field {
  if (Array.isArray(value)) return value.every((each) => typeof each === "string");
  return typeof value === "string" || typeof value === "boolean";
}
