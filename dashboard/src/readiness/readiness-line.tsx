// Shows on Home whether customers can pay, with a link to the details. It is a single line while all is well, so that it takes little space.
import { Alert, Anchor, Badge, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useMerchant } from "../shell/merchants.ts";
import { verdictOf } from "./coins.ts";
import { useReadiness } from "./use-readiness.ts";

const QUESTION = "Can I accept payments now?";

/** Shows nothing until the readiness is loaded, or if it cannot be loaded: Home must not fail because of it. */
export function ReadinessLine() {
  const { id: merchantId } = useMerchant();
  const { data } = useReadiness();
  if (data === undefined) return null;
  const { color, short, text } = verdictOf(data);
  const all = (
    <Anchor component={Link} to={`/console/${merchantId}/readiness`} inherit underline="always">
      {color === "green" ? QUESTION : "View all coins"}
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
