// The audit log as a file, which the browser makes from pages of the list.
import { describe, expect, it } from "vitest";
import { ApiError, ConnectionError } from "../../../dashboard/src/api/errors.ts";
import type { AuditEvent } from "../../../dashboard/src/api/operations.ts";
import { entryLine } from "../../../dashboard/src/audit/entry-line.ts";
import { exportList, type Progress, type Source } from "../../../dashboard/src/shell/list-export.ts";

const HEAD = "\uFEFFtime,actor_kind,actor_id,actor_name,action,target,before,after,ip,request_id";

const LINE = entryLine(() => "ann@example.com");

function entry(number: number, facts: Partial<AuditEvent> = {}): AuditEvent {
  return {
    id: `aud_${number}`,
    actor: { kind: "USER", id: "usr_1" },
    action: "merchant.updated",
    target: `mer_${number}`,
    before: null,
    after: { name: `Shop ${number}` },
    ip: null,
    requestId: null,
    createdAt: "2026-11-23T10:00:00.000Z",
    ...facts,
  };
}

/** Reads `entries` like the API. The first calls fail with `failures`, one each. */
function logOf(entries: readonly AuditEvent[], failures: readonly Error[] = []) {
  const left = [...failures];
  const [progress, waits]: [Progress[], number[]] = [[], []];
  const source: Source<AuditEvent> = {
    read: async ({ cursor, page, limit }) => {
      const failure = left.shift();
      if (failure !== undefined) throw failure;
      const start = Number(cursor ?? 0);
      const data = entries.slice(start, start + limit);
      const nextCursor = start + limit < entries.length ? String(start + limit) : null;
      return { data, nextCursor, ...(page === undefined ? {} : { pagination: { total: entries.length } }) };
    },
    onProgress: (now) => progress.push(now),
    wait: async (ms) => {
      waits.push(ms);
    },
  };
  const linesOf = async () => {
    // Decoders skip the byte order mark by default.
    const bytes = await (await exportList(source, LINE)).arrayBuffer();
    return new TextDecoder("utf-8", { ignoreBOM: true, fatal: true }).decode(bytes).trimEnd().split("\r\n");
  };
  return { source, linesOf, progress, waits };
}

const many = (count: number) => Array.from({ length: count }, (_, number) => entry(number));

describe("the audit log export", () => {
  it("contains every entry of many pages once, and reports its progress", async () => {
    const { linesOf, progress, waits } = logOf(many(2_345));
    const [head, ...lines] = await linesOf();
    expect(head).toBe(HEAD);
    expect(lines.map((line) => /mer_\d+/.exec(line)?.[0])).toEqual(many(2_345).map(({ target }) => target));
    expect(progress.map(({ read }) => read)).toEqual([
      ...Array.from({ length: 23 }, (_, page) => 100 * (page + 1)),
      2_345,
    ]);
    expect(progress.every(({ total }) => total === 2_345)).toBe(true);
    // The export makes fewer than 300 calls a minute, so that the user's other pages still get responses.
    expect(waits.length).toBe(23);
    expect(Math.min(...waits)).toBeGreaterThan(60_000 / 300);
  });

  it("has only a header if no entry matches", async () => {
    expect(await logOf([]).linesOf()).toEqual([HEAD]);
  });

  it.each([
    ["a lost connection", new ConnectionError("gone")],
    ["too many requests", new ApiError(429, { code: "RATE_LIMITED" })],
    ["an outage", new ApiError(503, { code: "STORAGE_UNAVAILABLE" })],
  ])("continues after %s", async (_, failure) => {
    const { linesOf } = logOf(many(250), [failure, failure]);
    expect((await linesOf()).length).toBe(251);
  });

  it("fails at once if the user's role was removed, and after several attempts if there is no response", async () => {
    const refusal = new ApiError(403, { code: "PERMISSION_DENIED" });
    const refused = logOf(many(3), [refusal]);
    await expect(refused.linesOf()).rejects.toBe(refusal);
    expect(refused.waits).toEqual([]);
    const outage = new ConnectionError("gone");
    await expect(logOf(many(3), Array(100).fill(outage)).linesOf()).rejects.toBe(outage);
  });

  it("ends when the reader stops it", async () => {
    const { source } = logOf(many(250));
    const stopped = new Error("stopped");
    const wait = () => Promise.reject(stopped);
    await expect(exportList({ ...source, wait }, LINE)).rejects.toBe(stopped);
  });

  it("contains nothing that a spreadsheet would run", async () => {
    const hostile = entry(1, { ip: "+1", requestId: "@x", before: { name: '=HYPERLINK("x")' }, after: null });
    const { source } = logOf([hostile]);
    const text = await (
      await exportList(
        source,
        entryLine(() => "=cmd|' /C calc'!A0"),
      )
    ).text();
    const [, line = ""] = text.split("\r\n");
    expect(line).toContain(`usr_1,'=cmd|' /C calc'!A0,merchant.updated,mer_1,`);
    expect(line).toContain(`"{""name"":""=HYPERLINK(\\""x\\"")""}",,'+1,'@x`);
  });
});
