// What a browser gets at any address before the deployment is set up.
import { Text } from "@mantine/core";
import { Entrance } from "../sign-in/entrance.tsx";
import { MakeLink } from "./make-link.tsx";

export function NotSetUpPage() {
  return (
    <Entrance title="Not set up yet" about="Nobody runs this deployment yet, so it serves nothing else.">
      <MakeLink />
      <Text size="sm" c="dimmed">
        Did you come here to pay? Nothing was ordered or charged here. Ask the shop that sent you.
      </Text>
    </Entrance>
  );
}
