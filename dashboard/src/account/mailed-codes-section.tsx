import { Switch } from "@mantine/core";
import { showDone, useChange } from "../api/queries.ts";
import { useMe } from "../shell/merchants.ts";
import { Section } from "../shell/section.tsx";

export function MailedCodesSection() {
  const { factors } = useMe();
  const enable = useChange("enableEmailOtp", { onSuccess: () => showDone("Email codes are on.") });
  const disable = useChange("disableEmailOtp", { onSuccess: () => showDone("Email codes are off.") });
  const change = factors.emailOtp ? disable : enable;
  return (
    <Section
      title="Email codes as a second factor"
      about="If you have no authenticator app, signing in with Google or GitHub also requires a code sent by email."
      actions={
        <Switch
          aria-label="Email codes as a second factor"
          checked={factors.emailOtp}
          disabled={change.isPending}
          onChange={() => change.mutate({})}
        />
      }
    />
  );
}
