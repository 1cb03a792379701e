import { useQuery } from "@tanstack/react-query";
import type { AuditEvent } from "../api/operations.ts";
import { reading } from "../api/queries.ts";
import { useMay, useMerchant } from "./merchants.ts";

/** Returns a function that names the author of a change: a member of the team, or one of its keys. */
export function useAuthors(): (actor: AuditEvent["actor"]) => string {
  const { id: merchantId } = useMerchant();
  const maySeeTeam = useMay("team:view");
  const maySeeKeys = useMay("api_key:view");
  const query = { limit: 100 };
  const members = useQuery({ ...reading("listMembers", { merchantId, query }), enabled: maySeeTeam });
  const keys = useQuery({ ...reading("listApiKeys", { merchantId, query }), enabled: maySeeKeys });
  return ({ kind, id }) => {
    if (kind === "SYSTEM") return "Edgetill";
    if (kind === "API_KEY") return `the API key ${keys.data?.data.find((key) => key.id === id)?.name ?? id}`;
    if (members.data === undefined) return id ?? "somebody";
    const member = members.data.data.find(({ userId }) => userId === id);
    if (member === undefined) return "a former team member";
    return member.name === null ? member.email : `${member.name} (${member.email})`;
  };
}

/** The same for a decision, which only has the id of a user or an API key. */
export function useDeciders(): (id: string) => string {
  const authorOf = useAuthors();
  return (id) => authorOf({ kind: id.startsWith("key_") ? "API_KEY" : "USER", id });
}
