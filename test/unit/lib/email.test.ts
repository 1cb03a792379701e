import fc from "fast-check";
import { expect, test } from "vitest";
import { countedMailboxOf } from "../../../src/lib/email.ts";
import { RUNS } from "../../support/property-runs.ts";

const letters = fc.string({ unit: fc.constantFrom(..."abcxyz019_-"), minLength: 1, maxLength: 12 });

test.each([
  ["case", "Ann@Example.com", "ann@example.com"],
  ["a tag", "ann+shop@example.com", "ann@example.com"],
  ["dots at Gmail", "a.n.n@gmail.com", "ann@gmail.com"],
  ["Gmail's other domain", "ann@googlemail.com", "ann@gmail.com"],
  ["Unicode instead of Punycode in the domain", "ann@bücher.example", "ann@xn--bcher-kva.example"],
  ["full-width letters in the domain", "ann@ｅxample.com", "ann@example.com"],
  ["a decomposed letter", "ann@b\u00fccher.example", "ann@bu\u0308cher.example"],
])("the mailbox does not depend on %s", (_, one, other) => {
  expect(countedMailboxOf(one)).toBe(countedMailboxOf(other));
});

test.each([
  ["ann@example.com", "ben@example.com"],
  ["ann@example.com", "ann@example.org"],
  ["a.nn@example.com", "ann@example.com"],
  ["+one@example.com", "+two@example.com"],
])("%s and %s are different mailboxes", (one, other) => {
  expect(countedMailboxOf(one)).not.toBe(countedMailboxOf(other));
});

test("dots, tags and capitals do not make a different mailbox at Gmail, and normalizing again changes nothing", () => {
  const dots = fc.array(fc.boolean(), { minLength: 12, maxLength: 12 });
  fc.assert(
    fc.property(letters, letters, dots, fc.boolean(), (name, tag, isDotted, isUpper) => {
      const written = `${[...name].map((letter, n) => (n > 0 && isDotted[n] ? `.${letter}` : letter)).join("")}+${tag}@gmail.com`;
      const mailbox = countedMailboxOf(isUpper ? written.toUpperCase() : written);
      expect(mailbox).toBe(`${name}@gmail.com`);
      expect(countedMailboxOf(mailbox)).toBe(mailbox);
    }),
    { numRuns: RUNS },
  );
});

test("any text has a normal form, and normalizing it again changes nothing", () => {
  fc.assert(
    fc.property(fc.oneof(fc.emailAddress(), fc.string()), (text) => {
      const mailbox = countedMailboxOf(text);
      expect(countedMailboxOf(mailbox)).toBe(mailbox);
    }),
    { numRuns: RUNS },
  );
});
