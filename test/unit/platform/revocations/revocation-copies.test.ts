import { expect, it } from "vitest";
import type { NewRevocation } from "../../../../src/platform/revocations/revocation.ts";
import { RevocationCopies } from "../../../../src/platform/revocations/revocation-copies.ts";
import { memoryStorage } from "../../../support/object-storage.ts";

it("copies of revocations of an unknown kind are omitted, and do not count towards the size of a page", () => {
  const copies = new RevocationCopies(memoryStorage());
  const copy = (kind: string, target: string) => ({ kind, target, columns: {} }) as NewRevocation;
  copies.keep([...Array.from({ length: 3 }, () => copy("OF_THE_NEXT_RELEASE", "a")), copy("API_KEY", "b")], 1);
  copies.keep([copy("API_KEY", "c")], 2);
  expect(copies.since(0, { after: 0, limit: 2 }).map(({ target }) => target)).toEqual(["b", "c"]);
});
