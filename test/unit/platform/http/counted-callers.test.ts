import { expect, it } from "vitest";
import { CountedCallers } from "../../../../src/platform/http/counted-callers.ts";

it("callers are remembered up to a limit, and freed entries are reused", () => {
  const callers = new CountedCallers();
  const names = Array.from({ length: 100_000 }, (_, n) => `credential ${n}`);
  for (const name of names) callers.remember("createInvoice", name, { name, act: undefined });
  const known = () => names.filter((name) => callers.find("createInvoice", name) !== undefined);
  expect(known()).toEqual(names.slice(0, 1_024));
  callers.forget("createInvoice", "credential 7");
  callers.remember("createInvoice", "credential 99999", { name: "new", act: undefined });
  expect(known()).toHaveLength(1_024);
  expect(callers.find("createInvoice", "credential 99999")?.name).toBe("new");
});
