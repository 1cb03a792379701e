import { ConfirmButton } from "../shell/confirm.tsx";
import { useMerchant } from "../shell/merchants.ts";
import { useDeparture } from "../shell/use-departure.ts";

/** Shown to everyone except the owner, because a team always has an owner. */
export function LeaveButton() {
  const { id: merchantId, role } = useMerchant();
  const leave = useDeparture("leaveTeam");
  if (role === "OWNER") return null;
  return (
    <ConfirmButton
      action="Leave team"
      isBusy={leave.isPending}
      consequence="You lose access to this merchant until someone invites you again."
      onConfirmed={() => leave.mutate({ merchantId })}
    />
  );
}
