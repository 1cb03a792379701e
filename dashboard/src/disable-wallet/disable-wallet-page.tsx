// The target of the link in the email about a change to a wallet. It asks for a click, because mail scanners open links.
import { Alert, Anchor, Button, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useChange } from "../api/queries.ts";
import { Entrance } from "../sign-in/entrance.tsx";
import { mailedToken } from "../sign-in/mailed-token.ts";

export function DisableWalletPage() {
  const disable = useChange("disableWalletByLink", { isShownInPlace: true });
  return (
    <Entrance title="Disable a wallet">
      {mailedToken === null ? (
        <Text>This link is incomplete. Open it again from the email.</Text>
      ) : (
        <Stack>
          {disable.isSuccess ? (
            <Alert color="green" title="Wallet disabled" role="status">
              No new invoice will use <span className="mono">{disable.data.walletId}</span>.{" "}
              <Anchor component={Link} to="/console" inherit>
                Sign in
              </Anchor>{" "}
              and check who changed it.
            </Alert>
          ) : (
            <>
              <Text>If you did not expect this change, disable the wallet. No new invoice will use it.</Text>
              <Button
                color="red.9"
                loading={disable.isPending}
                onClick={() => disable.mutate({ body: { token: mailedToken ?? "" } })}
              >
                Disable wallet
              </Button>
            </>
          )}
          {disable.isError && (
            <Alert color="red" role="alert">
              {disable.error.message}
            </Alert>
          )}
        </Stack>
      )}
    </Entrance>
  );
}
