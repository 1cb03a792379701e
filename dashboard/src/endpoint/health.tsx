import { Badge } from "@mantine/core";
import type { Webhook } from "../api/operations.ts";

type Facts = Pick<Webhook, "isActive" | "disabledReason" | "failuresInRow">;

/** An endpoint's health, in a word or two. */
export function EndpointHealth({ endpoint }: { readonly endpoint: Facts }) {
  const { isActive, disabledReason, failuresInRow } = endpoint;
  if (!isActive && disabledReason !== null) return <Badge color="red">Turned off by Edgetill</Badge>;
  if (!isActive) return <Badge color="gray">Off</Badge>;
  if (failuresInRow > 0) return <Badge color="orange">Failing</Badge>;
  return <Badge color="green">On</Badge>;
}
