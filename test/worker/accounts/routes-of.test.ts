import { describe, expect, it } from "vitest";
import * as z from "zod";
import { type MountedRoute, routesOf } from "../../../src/accounts/pipeline/routes-of.ts";
import { ok } from "../../../src/lib/result.ts";
import { jsonReply } from "../../../src/platform/http/reply.ts";

const answers = [{ status: 200, description: "It" }];
const answer = async () => ok(jsonReply(200, {}));
const route = { operationId: "x", summary: "X", answers, answer };
const specsOf = (routes: Iterable<MountedRoute>) => [...routes].map(({ spec }) => spec);

describe("a group of routes", () => {
  it("has its routes in declaration order", () => {
    const group = routesOf({ tag: "Service", callers: "ANYBODY" });
    const routes = group.get("/a", route).post("/b", route).patch("/c", route).delete("/d", route);
    expect(specsOf(routes).map(({ method, path }) => `${method} ${path}`)).toEqual([
      "GET /a",
      "POST /b",
      "PATCH /c",
      "DELETE /d",
    ]);
  });

  it("gives its settings to its routes, and a route can override them", () => {
    const group = routesOf({ tag: "Wallets", callers: "MEMBER_OR_KEY", isForPublicKeys: true, isIdempotent: true });
    const specs = specsOf(
      group
        .get("/a", { ...route, permission: "wallet:view" })
        .post("/b", { ...route, permission: "wallet:create", isForPublicKeys: false }),
    );
    expect(
      specs.map(({ permission, isForPublicKeys, isIdempotent }) => [permission, isForPublicKeys, isIdempotent]),
    ).toEqual([
      ["wallet:view", true, true],
      ["wallet:create", false, true],
    ]);
  });
});

describe("a route without its own settings", () => {
  const [spec] = specsOf(routesOf({ tag: "Service", callers: "ANYBODY" }).post("/a", route));

  it("is closed to public keys, is not idempotent, needs no permission and declares no refusals", () => {
    expect(spec).toMatchObject({ isForPublicKeys: false, isIdempotent: false, permission: null, refusals: [] });
  });

  it("takes no body and no query", () => {
    expect(spec?.body().safeParse(undefined).success).toBe(true);
    expect(spec?.body().safeParse({ a: 1 }).success).toBe(false);
    expect(spec?.query().parse({ a: "1" })).toEqual({});
  });
});

describe("a merchant route", () => {
  it("names each sufficient permission", () => {
    const group = routesOf({ tag: "Wallets", callers: "MEMBER" });
    const [spec] = specsOf(group.get("/a", { ...route, permission: ["wallet:view", "payment:view"] }));
    expect(spec?.permission).toBe("wallet:view or payment:view");
  });

  it("does not compile without the permission that it needs", () => {
    const group = routesOf({ tag: "Wallets", callers: "MEMBER" });
    // @ts-expect-error it names no permission
    expect(specsOf(group.get("/a", route))).toHaveLength(1);
  });
});

describe("the schema of a body", () => {
  it("is built once, when it is first needed", () => {
    let built = 0;
    const body = () => {
      built++;
      return z.object({});
    };
    const [spec] = specsOf(routesOf({ tag: "Service", callers: "ANYBODY" }).post("/a", { ...route, body }));
    expect(built).toBe(0);
    expect(spec?.body()).toBe(spec?.body());
    expect(built).toBe(1);
  });
});
