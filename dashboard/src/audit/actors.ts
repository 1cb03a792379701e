// The authors of log entries: members and keys by name. For members who left, and for revoked keys, only the id remains.
import type { AuditEvent } from "../api/operations.ts";
import { useList } from "../api/queries.ts";
import { useMay, useMe, useMerchant } from "../shell/merchants.ts";
import { useMembers } from "../team/use-members.ts";

interface Actors {
  /** Names of members and keys, by their ids. */
  readonly names: ReadonlyMap<string, string>;
  readonly nameOf: (actor: AuditEvent["actor"]) => string;
  /** For use outside the console: an email address or a key's name, "" if neither is known. */
  readonly plainNameOf: (actor: AuditEvent["actor"]) => string;
  readonly options: readonly {
    readonly group: string;
    readonly items: readonly { readonly value: string; readonly label: string }[];
  }[];
}

const KINDS = [
  { value: "USER", label: "Any user" },
  { value: "API_KEY", label: "Any API key" },
  { value: "SYSTEM", label: "Edgetill" },
];

export function useActors(): Actors {
  const { id: merchantId } = useMerchant();
  const me = useMe();
  const maySeeKeys = useMay("api_key:view");
  const members = useMembers().data ?? [];
  const read = useList("listApiKeys", { merchantId, query: { limit: 100 } });
  const keys = maySeeKeys ? (read.data?.data ?? []) : [];
  const people = members.map(({ userId, email }) => ({ value: userId, label: email }));
  const named = keys.map(({ id, name }) => ({ value: id, label: name }));
  const names = new Map([...people, ...named].map(({ value, label }) => [value, label]));
  return {
    names: new Map([...names, ...members.map(({ id, email }) => [id, email] as const)]),
    nameOf: ({ kind, id }) => {
      if (kind === "SYSTEM" || id === null) return "Edgetill";
      if (id === me.id) return "You";
      const name = names.get(id);
      if (kind === "API_KEY") return name === undefined ? `API key ${id}` : `API key “${name}”`;
      return name ?? id;
    },
    plainNameOf: ({ id }) => (id === null ? "" : (names.get(id) ?? "")),
    options: [
      { group: "Kinds", items: KINDS },
      { group: "Team", items: people },
      { group: "API keys", items: named },
    ],
  };
}
