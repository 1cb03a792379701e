// The page that a browser gets before the deployment is set up, at any address except that of the set-up page.
import { Text } from "@mantine/core";
import { Entrance } from "../sign-in/entrance.tsx";
import { MakeLink } from "./make-link.tsx";

export function NotSetUpPage() {
  return (
    <Entrance title="Not set up yet" about="This deployment has no operator yet, so there is nothing else here.">
      <MakeLink />
      <Text size="sm" c="dimmed">
        Did you come here to pay? Nothing was ordered or charged. Contact the shop that sent you.
      </Text>
    </Entrance>
  );
}
