// The answer on Home, with the way to all of it. One line while all is well, so that it pushes nothing down.
import { Alert, Anchor, Badge, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useMerchant } from "../shell/merchants.ts";
import { verdictOf } from "./coins.ts";
import { useReadiness } from "./use-readiness.ts";

const QUESTION = "Can I take money now?";

/** Nothing until it was read, and where it cannot be read: it is no reason for Home to fail. */
export function ReadinessLine() {
  const { id: merchantId } = useMerchant();
  const { data } = useReadiness();
  if (data === undefined) return null;
  const { color, short, text } = verdictOf(data);
  const all = (
    <Anchor component={Link} to={`/console/${merchantId}/readiness`} inherit underline="always">
      {color === "green" ? QUESTION : "See each coin"}
    </Anchor>
  );
  return color === "green" ? (
    <Text size="sm">
      {all} <Badge color={color}>{short}</Badge>
    </Text>
  ) : (
    <Alert color={color} title={QUESTION}>
      {text} {all}
    </Alert>
  );
}
