import { describe, expect, test } from "vitest";
import { parseAnswer } from "../../../bench/load/connection.ts";
import { requestText } from "../../../bench/load/request.ts";

const parse = (text: string) => parseAnswer(Buffer.from(text));

describe("the load generator", () => {
  test("counts a response as complete only once its last byte has arrived", () => {
    const answer = 'HTTP/1.1 201 Created\r\nContent-Length: 9\r\n\r\n{"id":"é"';
    expect(parse(answer.slice(0, 20))).toBeUndefined();
    expect(parse(answer.slice(0, -2))).toBeUndefined();
    expect(parse("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n")).toBeUndefined();
  });

  test("reads responses with a content-length, in chunks, and without a body", () => {
    expect(parse("HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok")).toEqual({ status: 201, body: "ok" });
    expect(parse("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n")?.body).toContain("ok");
    expect(parse("HTTP/1.1 204 No Content\r\n\r\n")).toEqual({ status: 204, body: "" });
  });

  test("sends a body's length in bytes", () => {
    expect(requestText({ method: "POST", path: "/x", body: { name: "é" } })).toContain(
      'content-length: 13\r\n\r\n{"name":"é"}',
    );
  });
});
