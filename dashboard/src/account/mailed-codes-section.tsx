import { Switch } from "@mantine/core";
import { showDone, useChange } from "../api/queries.ts";
import { useMe } from "../shell/merchants.ts";
import { Section } from "../shell/section.tsx";

export function MailedCodesSection() {
  const { factors } = useMe();
  const enable = useChange("enableEmailOtp", { onSuccess: () => showDone("Mailed codes are on.") });
  const disable = useChange("disableEmailOtp", { onSuccess: () => showDone("Mailed codes are off.") });
  const change = factors.emailOtp ? disable : enable;
  return (
    <Section
      title="Mailed codes as a second factor"
      about="For accounts without an authenticator app: signing in with Google or GitHub then needs a mailed code, too."
      actions={
        <Switch
          aria-label="Mailed codes as a second factor"
          checked={factors.emailOtp}
          disabled={change.isPending}
          onChange={() => change.mutate({})}
        />
      }
    />
  );
}
