// Fields that several contracts share, each with the same meaning everywhere. Like all schemas in contracts, they are functions, so that unused
// schemas are not built.
import * as z from "zod";
import { MICRO_DIGITS, microsFromJsonNumber, parseUnits } from "./money.ts";

/** Whether the body of a change has at least one member. */
export function isAnyGiven(body: object): boolean {
  return Object.values(body).some((value) => value !== undefined);
}

/** Checks the length first: the pattern of an address is slow on a long text. */
export const emailField = () => z.string().max(320, { abort: true }).check(z.email());

/** Text of at most `max` code points; at least 1 by default. */
export function textField(max: number, min = 1) {
  return z
    .string()
    .refine(
      (value) => value.length <= max || (value.length <= 2 * max && [...value].length <= max),
      `must have at most ${max} characters`,
    )
    .refine((value) => value.length >= min, "must not be empty")
    .meta({ minLength: min, maxLength: max });
}

/** An amount in a response, in the invoice's currency. */
export const amountText = () =>
  z.string().meta({ description: "Decimal with 6 fraction digits.", examples: ["49.900000"] });

/**
 * An amount from 0 to 1,000,000, sent as a JSON number and parsed to micro-units (decisions 4 "rawAmount"). A positive number that would round to 0
 * is refused.
 */
export const amountField = () =>
  z
    .number()
    .min(0)
    .max(1_000_000, "must be at most 1000000, in every currency")
    .transform((value, context) => {
      const micros = microsFromJsonNumber(value);
      if (micros.ok) return micros.value;
      const message =
        micros.error === "ROUNDS_TO_ZERO"
          ? "must be 0 or at least 0.0000005: a smaller amount would be rounded to 0, which means any amount"
          : "must be from 0 to 1000000";
      context.addIssue({ code: "custom", message });
      return z.NEVER;
    });

const MAX_AMOUNT_MICROS = 1_000_000_000_000n;
const NO_DECIMAL = "must be a decimal with at most 6 fraction digits";

const exactText = () => z.string().regex(/^\d{1,7}(\.\d{1,6})?$/, NO_DECIMAL);

function exactMicros(value: string | number, context: z.RefinementCtx): bigint {
  const micros = parseUnits(String(value), MICRO_DIGITS);
  if (micros.ok && micros.value >= 0n && micros.value <= MAX_AMOUNT_MICROS) return micros.value;
  context.addIssue({ code: "custom", message: micros.ok ? "must be from 0 to 1000000" : NO_DECIMAL });
  return z.NEVER;
}

/** An amount from 0 to 1,000,000 with at most 6 fraction digits, sent as decimal text or as a number, in micro-units. Never rounded. */
export const exactAmountField = () => z.union([exactText(), z.number()]).transform(exactMicros);

/** The same amount as a query parameter, which is always text. */
export const amountParameter = () => exactText().transform(exactMicros);

/** Not `z.record`, because that silently removes a member named `__proto__`. */
export const metadataField = () =>
  z
    .custom<Readonly<Record<string, string>>>(isTextRecord, "must be an object whose values are strings")
    .refine((value) => Object.keys(value).length <= 50, "must have at most 50 keys")
    .refine(
      (value) => new TextEncoder().encode(JSON.stringify(value)).length <= 8_192,
      "must be at most 8,192 bytes as JSON",
    )
    .meta({ type: "object", additionalProperties: { type: "string" }, maxProperties: 50 });

function isTextRecord(value: unknown): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return Object.values(value).every((member) => typeof member === "string");
}

/** A query parameter that is `true` or `false`. The API reference shows it as a boolean, the type that its text is parsed to. */
export const flagParameter = () =>
  z
    .string()
    .refine((text) => text === "true" || text === "false", "must be true or false")
    .transform((text) => text === "true")
    .meta({ type: "boolean" });

/** A query parameter that is a whole number. */
export const integerParameter = (minimum: number, maximum: number) =>
  z
    .string()
    .refine(
      (text) => /^(0|[1-9]\d*)$/.test(text) && Number(text) >= minimum && Number(text) <= maximum,
      `must be a whole number from ${minimum} to ${maximum}`,
    )
    .transform(Number)
    .meta({ type: "integer", minimum, maximum });

/** A time in a query, parsed to milliseconds; a date means its start in UTC. */
export const timeParameter = () =>
  z
    .union([z.iso.datetime({ offset: true }), z.iso.date()], "must be an ISO 8601 time or date")
    .transform((value) => Date.parse(value))
    .meta({ type: "string", format: "date-time" });

/** A time in a response (decisions 1). */
export const time = () => z.string().meta({ format: "date-time", examples: ["2026-11-21T12:00:00.000Z"] });
