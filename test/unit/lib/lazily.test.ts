import { expect, it } from "vitest";
import { lazily, remembering } from "../../../src/lib/lazily.ts";

it("a value is computed on first use, and only once, even if it is undefined", () => {
  const made: string[] = [];
  const text = lazily(() => {
    made.push("text");
    return "a";
  });
  const nothing = lazily(() => void made.push("nothing"));
  expect(made).toEqual([]);
  expect([text(), text(), nothing(), nothing()]).toEqual(["a", "a", undefined, undefined]);
  expect(made).toEqual(["text", "nothing"]);
});

it("a computation that threw an error is tried again", () => {
  const answers = [
    () => {
      throw new Error("not yet");
    },
    () => "a",
  ];
  const value = lazily(() => answers.shift()?.());
  expect(value).toThrow("not yet");
  expect([value(), value()]).toEqual(["a", "a"]);
});

it("the result for a text is computed once, but again after a different text or if the computation threw an error", () => {
  const asked: string[] = [];
  const upper = remembering((text) => {
    asked.push(text);
    if (text === "no") throw new Error("not this");
    return { text: text.toUpperCase() };
  });
  expect(upper("a")).toBe(upper("a"));
  expect([upper("b").text, upper("a").text]).toEqual(["B", "A"]);
  expect(() => upper("no")).toThrow("not this");
  expect(() => upper("no")).toThrow("not this");
  expect(upper("a").text).toBe("A");
  expect(asked).toEqual(["a", "b", "a", "no", "no"]);
});
