import { describe, expect, it } from "vitest";
import { parsePollSeconds } from "../../../src/chains/sources/poll-setting.ts";

describe("POLL_SECONDS", () => {
  it.each([undefined, "", " "])("%j leaves every network at its own interval", (text) => {
    expect(parsePollSeconds(text)).toEqual({ ok: true, value: null });
  });

  it.each([
    ["1", 1],
    [" 2.5 ", 2.5],
    ["0.05", 0.05],
    ["3600", 3600],
  ])("%j is %d seconds", (text, value) => {
    expect(parsePollSeconds(text)).toEqual({ ok: true, value });
  });

  it.each(["0", "0.04", "-1", "1e1", "Infinity", "NaN", "3600.1", "0x10", "1,5", "soon", "1 2"])(
    "%j is refused",
    (text) => {
      expect(parsePollSeconds(text)).toEqual({
        ok: false,
        error: "POLL_SECONDS must be a number of seconds from 0.05 to 3600",
      });
    },
  );
});
