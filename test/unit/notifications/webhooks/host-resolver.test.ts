import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { addressScope } from "../../../../src/lib/global-address.ts";
import { parseEndpointUrl } from "../../../../src/notifications/webhooks/endpoint-url.ts";
import { type Resolution, resolveHost } from "../../../../src/platform/resolver/host-resolver-client.ts";
import { type Listening, listen } from "../../../support/listen.ts";

type Asked = {
  readonly name: string;
  readonly type: string;
  readonly path: string;
  readonly accept: string | undefined;
};
type Answer = (asked: Asked, response: ServerResponse, request: IncomingMessage) => void;

const started: Listening[] = [];

afterEach(async () => {
  await Promise.all(started.splice(0).map((each) => each.close()));
});

/** A resolver on loopback that answers each query with `answer`, and records the queries. */
async function resolver(answer: Answer, path = "/dns-query") {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "", "http://resolver");
    const name = url.searchParams.get("name") ?? "";
    const each = {
      name,
      type: url.searchParams.get("type") ?? "",
      path: request.url ?? "",
      accept: request.headers.accept,
    };
    asked.push(each);
    answer(each, response, request);
  });
  const listening = await listen(server);
  started.push(listening);
  const resolverUrl = `${listening.origin}${path}`;
  const resolve = (host: string, timeoutMs = 5_000): Promise<Resolution> =>
    resolveHost({ fetch: (url, init) => fetch(url, init), resolverUrl, timeoutMs }, host);
  return { asked, resolve };
}

type Record = readonly [type: number, data: string];

/** A resolver's JSON answer with the records for the queried name. */
function json(name: string, records: readonly Record[] | undefined, over: object = {}): string {
  const Answer = records?.map(([type, data]) => ({ name, type, TTL: 300, data }));
  const flags = { Status: 0, TC: false, RD: true, RA: true, AD: false, CD: false };
  return JSON.stringify({ ...flags, Question: [{ name, type: 1 }], ...(Answer ? { Answer } : {}), ...over });
}

const A = (data: string): Record => [1, data];
const AAAA = (data: string): Record => [28, data];
const CNAME = (data: string): Record => [5, data];

/** Answers from two lists. Like real resolvers, it omits the `Answer` member if a list is empty. */
const zone =
  (a: readonly Record[], aaaa: readonly Record[], over: object = {}): Answer =>
  ({ name, type }, response) => {
    const records = type === "A" ? a : aaaa;
    response
      .setHeader("content-type", "application/dns-json")
      .end(json(name, records.length > 0 ? records : undefined, over));
  };

const whole =
  (body: string, status = 200): Answer =>
  (_, response) => {
    response.writeHead(status, { "content-type": "application/dns-json", location: "/elsewhere" }).end(body);
  };

const SOA: Record = [6, "ns.acme.com. hostmaster.acme.com. 1 7200 900 1209600 86400"];

describe("what a host resolves to", () => {
  it("is queried once per address family, by name and type, as DNS in JSON", async () => {
    const { asked, resolve } = await resolver(
      zone([A("93.184.215.14")], [AAAA("2606:2800:21f:cb07:6820:80da:af6b:8b2c")]),
    );
    expect(await resolve("xn--bcher-kva.de")).toEqual({
      kind: "public",
      addresses: ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"],
    });
    expect(asked.map(({ path }) => path).sort()).toEqual([
      "/dns-query?name=xn--bcher-kva.de&type=A",
      "/dns-query?name=xn--bcher-kva.de&type=AAAA",
    ]);
    expect(asked.map(({ accept }) => accept)).toEqual(["application/dns-json", "application/dns-json"]);
  });

  it("is queried with the parameters in the resolver's own URL, to which a host cannot add any", async () => {
    const { asked, resolve } = await resolver(zone([A("1.1.1.1")], []), "/resolve?edns_client_subnet=0.0.0.0/0");
    await resolve("a.com&name=b.com&cd=1#x");
    expect(asked.map(({ name }) => name)).toEqual(["a.com&name=b.com&cd=1#x", "a.com&name=b.com&cd=1#x"]);
    expect(asked.every(({ path }) => path.includes("edns_client_subnet=0.0.0.0") && !path.includes("cd=1"))).toBe(true);
  });

  it.each<[string, Record[], Record[], string[]]>([
    ["one address", [A("93.184.215.14")], [], ["93.184.215.14"]],
    ["only IPv6", [], [AAAA("2606:4700::6810:1")], ["2606:4700::6810:1"]],
    ["several addresses, each returned once", [A("1.1.1.1"), A("1.0.0.1"), A("1.1.1.1")], [], ["1.1.1.1", "1.0.0.1"]],
    [
      "the end of a chain of aliases",
      [CNAME("shops.host.net."), CNAME("edge.cdn.net."), A("151.101.1.1")],
      [CNAME("shops.host.net."), CNAME("edge.cdn.net."), AAAA("2a04:4e42::1")],
      ["151.101.1.1", "2a04:4e42::1"],
    ],
    [
      "an alias with addresses of one family",
      [CNAME("edge.cdn.net."), A("151.101.1.1")],
      [CNAME("edge.cdn.net.")],
      ["151.101.1.1"],
    ],
    [
      "records of other types that look like addresses",
      [[16, '"127.0.0.1"'], [5, "127.0.0.1."], A("1.1.1.1")],
      [],
      ["1.1.1.1"],
    ],
    ["signatures next to an address", [A("1.1.1.1"), [46, "A 13 2 300 20300101000000 ..."]], [], ["1.1.1.1"]],
  ])("is public: %s", async (_, a, aaaa, addresses) => {
    const { resolve } = await resolver(zone(a, aaaa));
    expect(await resolve("shop.acme.com")).toEqual({ kind: "public", addresses });
    expect(addresses.every((address) => addressScope(address) === "global")).toBe(true);
  });

  it.each<[string, Record[], Record[], string]>([
    ["loopback", [A("127.0.0.1")], [], "127.0.0.1"],
    ["a private address", [A("10.0.0.1")], [], "10.0.0.1"],
    ["a cloud's metadata service", [A("169.254.169.254")], [], "169.254.169.254"],
    ["IPv6 loopback", [], [AAAA("::1")], "::1"],
    ["a mapped IPv4 address", [A("1.1.1.1")], [AAAA("::ffff:10.0.0.1")], "::ffff:10.0.0.1"],
    ["6to4 of a private address", [], [AAAA("2002:a00:1::1")], "2002:a00:1::1"],
    ["a private address after public ones", [A("1.1.1.1"), A("8.8.8.8"), A("192.168.0.1")], [], "192.168.0.1"],
    ["a private address before a public one", [A("0.0.0.0"), A("8.8.8.8")], [], "0.0.0.0"],
    ["a local IPv6 and a public IPv4 address", [A("1.1.1.1")], [AAAA("2606:4700::1"), AAAA("fd00::1")], "fd00::1"],
    ["a private IPv4 and a public IPv6 address", [A("172.16.0.1")], [AAAA("2606:4700::1")], "172.16.0.1"],
    [
      "loopback at the end of a chain of aliases",
      [CNAME("a.cdn.net."), CNAME("b.cdn.net."), A("127.0.0.1")],
      [],
      "127.0.0.1",
    ],
    ["an address of the other family in the response", [A("1.1.1.1"), AAAA("::1")], [], "::1"],
  ])("is refused with %s among its addresses", async (_, a, aaaa, local) => {
    const { resolve } = await resolver(zone(a, aaaa));
    const why = `the host resolves to ${local}, which is not a public address`;
    expect(await resolve("shop.acme.com")).toEqual({ kind: "refused", why });
  });

  it.each<[string, Answer]>([
    ["no such name", zone([], [], { Status: 3, Authority: [{ name: "com.", type: 6, TTL: 900, data: SOA[1] }] })],
    ["an alias to no such name", zone([CNAME("gone.acme.com.")], [CNAME("gone.acme.com.")], { Status: 3 })],
    ["a name without an address", zone([], [])],
    ["an empty response", whole(json("shop.acme.com", []))],
    ["an alias to nothing", zone([CNAME("mail.acme.com.")], [CNAME("mail.acme.com.")])],
    ["only records of other types", zone([[15, "10 mx.acme.com."]], [[16, '"v=spf1"']])],
  ])("is refused: %s", async (_, answer) => {
    const { resolve } = await resolver(answer);
    expect(await resolve("shop.acme.com")).toEqual({ kind: "refused", why: "the host does not resolve" });
  });

  it.each<[string, Answer, string]>([
    ["a resolver that fails (SERVFAIL)", zone([], [], { Status: 2 }), "REFUSED"],
    ["a resolver that refuses (REFUSED)", zone([], [], { Status: 5 }), "REFUSED"],
    ["a failure that contains an address", zone([A("1.1.1.1")], [], { Status: 2 }), "REFUSED"],
    ["a truncated response (TC)", zone([A("1.1.1.1")], [], { TC: true }), "TRUNCATED"],
    ["a bad request", whole('{"error":"Invalid query name"}', 400), "BAD_STATUS"],
    ["an error", whole("oops", 500), "BAD_STATUS"],
    ["a redirect, which is not followed", whole("", 302), "BAD_STATUS"],
    ["a rate limit", whole("slow down", 429), "RATE_LIMITED"],
    ["an HTML page", whole("<html>Sign in to the guest network</html>"), "NOT_JSON"],
    ["an empty body", whole(""), "NOT_JSON"],
    ["JSON that ends too early", whole(json("shop.acme.com", [A("1.1.1.1")]).slice(0, -3)), "TRUNCATED"],
    ["JSON of a different shape", whole("[]"), "UNEXPECTED_SHAPE"],
    ["an object without a status code", whole('{"Answer":[{"type":1,"data":"1.1.1.1"}]}'), "UNEXPECTED_SHAPE"],
    [
      "a status code that is a string",
      whole('{"Status":"0","Answer":[{"type":1,"data":"1.1.1.1"}]}'),
      "UNEXPECTED_SHAPE",
    ],
    ["records that are not objects", whole('{"Status":0,"Answer":[1]}'), "UNEXPECTED_SHAPE"],
    ["a record without data", whole('{"Status":0,"Answer":[{"type":1}]}'), "UNEXPECTED_SHAPE"],
    ["an invalid address", zone([A("1.1.1.1"), A("999.1.1.1")], []), "UNEXPECTED_SHAPE"],
    ["an address in a different notation", zone([A("0x7f.1")], []), "UNEXPECTED_SHAPE"],
    ["an address with a suffix", zone([], [AAAA("2606::1%eth0")]), "UNEXPECTED_SHAPE"],
    ["a connection that is cut", (_, response) => void response.socket?.destroy(), "UNREACHABLE"],
    [
      "a body that is cut half-way",
      (_, response) => {
        response.writeHead(200, { "content-length": "1000" });
        response.write('{"Status":0,', () => response.socket?.destroy());
      },
      "UNREACHABLE",
    ],
  ])("is unknown, and so not allowed, with %s", async (_, answer, kind) => {
    const { resolve } = await resolver(answer);
    expect(await resolve("shop.acme.com")).toEqual({
      kind: "unknown",
      why: `the host could not be resolved (${kind})`,
    });
  });

  it.each<[string, Answer]>([
    ["never begins to respond", () => {}],
    ["never ends its response", (_, response) => void response.write('{"Status":0,"Answer":[')],
  ])("is unknown when the resolver %s within the time limit", async (_, answer) => {
    const { resolve } = await resolver(answer);
    expect(await resolve("shop.acme.com", 50)).toEqual({
      kind: "unknown",
      why: "the host could not be resolved (TIMEOUT)",
    });
  });

  it("is unknown if the response is 20 MB long, and only a part of it is read", async () => {
    let sentBytes = 0;
    const chunk = Buffer.alloc(65_536, 32);
    const { resolve } = await resolver((_, response) => {
      response.writeHead(200, { "content-type": "application/dns-json" });
      const more = () => {
        while (sentBytes < 20_000_000 && !response.destroyed) {
          sentBytes += chunk.length;
          if (!response.write(chunk)) return void response.once("drain", more);
        }
        response.end();
      };
      more();
    });
    expect(await resolve("shop.acme.com")).toEqual({
      kind: "unknown",
      why: "the host could not be resolved (TOO_LARGE)",
    });
    expect(sentBytes).toBeLessThan(20_000_000);
  });

  it("is unknown when nothing listens at the resolver's address", async () => {
    const { resolve } = await resolver(zone([A("1.1.1.1")], []));
    await started.pop()?.close();
    expect(await resolve("shop.acme.com")).toMatchObject({ kind: "unknown" });
  });

  it.each(["A", "AAAA"])(
    "is unknown if only the query for %s fails, but refused if the other query returns a private address",
    async (failing) => {
      const half =
        (records: readonly Record[]): Answer =>
        (asked, response, request) =>
          (asked.type === failing ? zone([], [], { Status: 2 }) : zone(records, records))(asked, response, request);
      const good = await resolver(half([A("1.1.1.1")]));
      expect(await good.resolve("shop.acme.com")).toMatchObject({ kind: "unknown" });
      const none = await resolver(half([]));
      expect(await none.resolve("shop.acme.com")).toMatchObject({ kind: "unknown" });
      const bad = await resolver(half([A("10.0.0.1")]));
      expect(await bad.resolve("shop.acme.com")).toMatchObject({ kind: "refused" });
    },
  );

  it("is refused for names that the URL rule accepts but that resolve to a private address or not at all", async () => {
    const { resolve } = await resolver(({ name, ...rest }, response, request) => {
      const [, spelled] = /(\d+-\d+-\d+-\d+)/.exec(name) ?? [];
      const records = spelled === undefined ? [] : [A(spelled.replaceAll("-", "."))];
      zone(records, [])({ name, ...rest }, response, request);
    });
    for (const host of ["127-0-0-1.nip.io.acme.com", "app.169-254-169-254.my-own-nip.com", "10-0-0-1.rebind.net"]) {
      expect(parseEndpointUrl(`https://${host}/`, { isLoopbackOpen: false })).toMatchObject({ value: { host } });
      expect(await resolve(host)).toMatchObject({
        kind: "refused",
        why: expect.stringContaining("not a public address"),
      });
    }
    const service = "kubernetes.default.svc";
    expect(parseEndpointUrl(`https://${service}/`, { isLoopbackOpen: false })).toMatchObject({
      value: { host: service },
    });
    expect(await resolve(service)).toEqual({ kind: "refused", why: "the host does not resolve" });
    // Well-known names are refused before any query is sent; their answers would be refused too.
    expect(parseEndpointUrl("https://127-0-0-1.nip.io/", { isLoopbackOpen: false }).ok).toBe(false);
    expect(await resolve("127-0-0-1.nip.io")).toMatchObject({ kind: "refused" });
  });
});
