import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MAX_BODY_BYTES, MAX_DEPTH, MAX_VALUES, readBody, readForm } from "../../../../src/platform/http/body.ts";
import { RUNS } from "../../../support/property-runs.ts";

const JSON_TYPE = { "content-type": "application/json" };

function requestOf(body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = JSON_TYPE): Request {
  return new Request("http://localhost/", { method: "POST", body, headers });
}

/** A body in chunks without a content-length; `taken` returns the number of chunks that were read. */
function streamOf(chunks: readonly Uint8Array[]): { readonly request: Request; readonly taken: () => number } {
  let next = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const chunk = chunks[next++];
        if (chunk === undefined) controller.close();
        else controller.enqueue(chunk);
      },
    },
    { highWaterMark: 0 },
  );
  const init: RequestInit & { duplex: "half" } = { method: "POST", body, headers: JSON_TYPE, duplex: "half" };
  return { request: new Request("http://localhost/", init), taken: () => next };
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(new TextEncoder().encode(text));
}

/** JSON text of exactly `size` bytes. */
function jsonOfSize(size: number): string {
  return `{"a":"${"x".repeat(size - 8)}"}`;
}

function readAs(text: string) {
  return { ok: true, value: { json: JSON.parse(text), text, bytes: bytesOf(text).length } };
}

async function codeOf(request: Request): Promise<string> {
  const read = await readBody(request);
  return read.ok ? "ok" : read.error.code;
}

describe("a body of limited size", () => {
  it("may have at most 64 KiB", async () => {
    expect(MAX_BODY_BYTES).toBe(65_536);
    expect(await codeOf(requestOf(jsonOfSize(65_536)))).toBe("ok");
    expect(await codeOf(requestOf(jsonOfSize(65_537)))).toBe("BODY_TOO_LARGE");
  });

  it("is measured in bytes, not in characters", async () => {
    const text = JSON.stringify("€".repeat(21_845));
    expect(text.length).toBeLessThan(MAX_BODY_BYTES);
    expect(await codeOf(requestOf(text))).toBe("BODY_TOO_LARGE");
  });

  it("over the limit is refused by its content-length, before anything is read", async () => {
    const { request, taken } = streamOf([bytesOf("{}")]);
    request.headers.set("content-length", String(MAX_BODY_BYTES + 1));
    expect(await codeOf(request)).toBe("BODY_TOO_LARGE");
    expect(taken()).toBe(0);
  });

  it("over the limit is refused even if its content-length is too small, soon after the limit is reached", async () => {
    const chunks = Array.from({ length: 100 }, () => new Uint8Array(16_384).fill(0x20));
    const { request, taken } = streamOf(chunks);
    request.headers.set("content-length", "2");
    expect(await codeOf(request)).toBe("BODY_TOO_LARGE");
    expect(taken()).toBeLessThanOrEqual(6);
  });

  it("within the limit is read no matter how a stream is split, even inside a character", async () => {
    const text = '{"name":"Grüße 👋🏽 €"}';
    const bytes = bytesOf(text);
    for (let at = 0; at <= bytes.length; at++) {
      const { request } = streamOf([bytes.slice(0, at), bytes.slice(at)]);
      expect(await readBody(request)).toEqual(readAs(text));
    }
    const letters = streamOf([...bytesOf(jsonOfSize(2_000))].map((byte) => Uint8Array.of(byte)));
    expect(await codeOf(letters.request)).toBe("ok");
  });

  it("over the limit is refused no matter how a stream is split", async () => {
    const whole = bytesOf(jsonOfSize(MAX_BODY_BYTES + 1));
    expect(await codeOf(streamOf([whole.slice(0, 65_536), whole.slice(65_536)]).request)).toBe("BODY_TOO_LARGE");
    const fits = bytesOf(jsonOfSize(MAX_BODY_BYTES));
    expect(await codeOf(streamOf([fits.slice(0, 40_000), fits.slice(40_000)]).request)).toBe("ok");
  });
});

describe("the content type", () => {
  it.each([
    "application/json",
    "APPLICATION/JSON",
    "application/json; charset=utf-8",
    "Application/Json;charset=UTF-8",
    " application/json ; charset=utf-8",
  ])("may be %j", async (type) => {
    expect(await codeOf(requestOf("{}", { "content-type": type }))).toBe("ok");
  });

  it.each([
    "text/plain",
    "text/json",
    "application/jsonp",
    "application/json-patch+json",
    "application/x-www-form-urlencoded",
    "multipart/form-data",
    "application/json, text/plain",
    "json",
    "",
  ])("may not be %j", async (type) => {
    expect(await codeOf(requestOf("{}", { "content-type": type }))).toBe("UNSUPPORTED_MEDIA_TYPE");
  });

  it("may not be omitted if there is a body", async () => {
    expect(await codeOf(requestOf(bytesOf("{}"), {}))).toBe("UNSUPPORTED_MEDIA_TYPE");
  });

  it("is not needed without a body, and is then ignored", async () => {
    const none = { ok: true, value: { json: undefined, text: undefined, bytes: 0 } };
    expect(await readBody(new Request("http://localhost/", { method: "POST" }))).toEqual(none);
    expect(await readBody(new Request("http://localhost/"))).toEqual(none);
    expect(await readBody(requestOf(new Uint8Array(), { "content-type": "text/plain" }))).toEqual(none);
    expect(await readBody(streamOf([]).request)).toEqual(none);
  });
});

describe("a body's text", () => {
  it.each([
    ["truncated JSON", "{"],
    ["two values", "{}{}"],
    ["a trailing comma", '{"a":1,}'],
    ["single quotes", "{'a':1}"],
    ["a comment", "{} // x"],
    ["NaN", '{"rawAmount":NaN}'],
    ["Infinity", '{"rawAmount":Infinity}'],
    ["only white space", "  \n"],
    ["a leading zero", '{"a":01}'],
    ["a raw line break in a string", '"a\nb"'],
    ["a form instead of JSON", "a=1&b=2"],
  ])("is malformed with %s", async (_, text) => {
    expect(await codeOf(requestOf(text))).toBe("MALFORMED_JSON");
  });

  it.each([
    ["a lone continuation byte", [0x22, 0x80, 0x22]],
    ["an overlong slash", [0x22, 0xc0, 0xaf, 0x22]],
    ["an encoded surrogate", [0x22, 0xed, 0xa0, 0x80, 0x22]],
    ["a code point that is too large", [0x22, 0xf4, 0x90, 0x80, 0x80, 0x22]],
    ["a truncated character", [0x22, 0xe2, 0x82, 0x22]],
    ["UTF-16", [0x22, 0x00, 0x61, 0x00, 0x22, 0x00]],
    ["Latin-1", [0x22, 0xfc, 0x22]],
  ])("that contains %s is malformed, because it is not UTF-8", async (_, bytes) => {
    expect(await codeOf(requestOf(Uint8Array.from(bytes)))).toBe("MALFORMED_JSON");
  });

  it("may begin with a byte order mark, which RFC 8259 lets a parser skip", async () => {
    const bytes = Uint8Array.from([0xef, 0xbb, 0xbf, 0x7b, 0x7d]);
    expect(await readBody(requestOf(bytes))).toEqual({
      ok: true,
      value: { json: {}, text: "{}", bytes: bytes.length },
    });
  });

  it("may be any JSON value", async () => {
    for (const text of ["null", "0", "false", '""', "[]", "{}"]) {
      expect(await readBody(requestOf(text))).toEqual(readAs(text));
    }
  });

  const refused: readonly [string, string][] = [
    ["NUL", String.raw`"a\u0000b"`],
    ["NUL in a member", String.raw`{"a":{"b":["\u0000"]}}`],
    ["NUL in a key", String.raw`{"a":{"\u0000":1}}`],
    ["a lone high surrogate", String.raw`"\ud83d"`],
    ["a lone low surrogate", String.raw`["\ude00 "]`],
    ["surrogates in the wrong order", String.raw`"\ude00\ud83d"`],
    ["a lone surrogate in a key", String.raw`{"\ud83d":1}`],
  ];
  it.each(refused)("may not contain %s", async (_, text) => {
    expect(await codeOf(requestOf(text))).toBe("VALIDATION_FAILED");
  });

  it("may contain everything else, including bidi and control characters, and is read unchanged", async () => {
    const texts = [
      "\u202e evil",
      "\u0001\u001f\u007f",
      "👩‍👩‍👧‍👦",
      "\ufeff",
      "\ufffd",
      "\u2028",
      "e\u0301",
      "\ud83d\ude00",
    ];
    for (const text of texts) {
      const sent = JSON.stringify({ [text]: text });
      expect(await readBody(requestOf(sent))).toEqual(readAs(sent));
    }
  });

  it("is read unchanged, for any shallow JSON", async () => {
    const value = fc.jsonValue({ maxDepth: 3 }).filter((each) => !JSON.stringify(each).includes(String.raw`\u0000`));
    await fc.assert(
      fc.asyncProperty(value, async (json) => {
        const text = JSON.stringify(json);
        expect(await readBody(requestOf(text))).toEqual(readAs(text));
      }),
      { numRuns: RUNS / 5 },
    );
  });
});

describe("the depth of a body", () => {
  const arrays = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
  const objects = (depth: number) => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;

  it("is at most 8 levels", async () => {
    expect(MAX_DEPTH).toBe(8);
    expect(await codeOf(requestOf(arrays(8)))).toBe("ok");
    expect(await codeOf(requestOf(objects(8)))).toBe("ok");
    expect(await codeOf(requestOf(arrays(9)))).toBe("VALIDATION_FAILED");
    expect(await codeOf(requestOf(objects(9)))).toBe("VALIDATION_FAILED");
  });

  it("is refused at 1,000 and at 32,768 levels without a stack overflow", async () => {
    expect(await codeOf(requestOf(arrays(1_000)))).toBe("VALIDATION_FAILED");
    expect(await codeOf(requestOf(objects(1_000)))).toBe("VALIDATION_FAILED");
    expect(await codeOf(requestOf(arrays(32_768)))).toBe("VALIDATION_FAILED");
  });

  it("is also checked after shallow members", async () => {
    expect(await codeOf(requestOf(`{"a":[1,2],"b":"x","c":${arrays(8)}}`))).toBe("VALIDATION_FAILED");
    expect(await codeOf(requestOf(`{"a":[1,2],"b":"x","c":${arrays(7)}}`))).toBe("ok");
  });
});

describe("the members and items of a body", () => {
  const shapes: readonly (readonly [string, (values: number) => unknown])[] = [
    ["items of a list", (values) => Array.from({ length: values }, (_, n) => n)],
    ["members of an object", (values) => Object.fromEntries(Array.from({ length: values }, (_, n) => [`m${n}`, n]))],
    ["lists in a list", (values) => Array.from({ length: values / 2 }, () => [0])],
  ];
  it.each(shapes)("are at most 1,000 altogether: %s", async (_, of) => {
    expect(MAX_VALUES).toBe(1_000);
    expect(await codeOf(requestOf(JSON.stringify(of(1_000))))).toBe("ok");
    expect(await codeOf(requestOf(JSON.stringify(of(1_002))))).toBe("VALIDATION_FAILED");
  });

  it("are limited to 1,000 fields in a form", async () => {
    const form = (fields: number) => {
      const body = Array.from({ length: fields }, (_, n) => `f${n}=1`).join("&");
      return requestOf(body, { "content-type": "application/x-www-form-urlencoded" });
    };
    expect((await readForm(form(1_000))).ok).toBe(true);
    expect(await readForm(form(1_001))).toMatchObject({ ok: false, error: { code: "VALIDATION_FAILED" } });
  });
});
