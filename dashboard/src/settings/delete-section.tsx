import { ConfirmTyped } from "../shell/confirm-typed.tsx";
import { useMerchant } from "../shell/merchants.ts";
import { Section } from "../shell/section.tsx";
import { useDeparture } from "../shell/use-departure.ts";

export function DeleteSection() {
  const { id: merchantId, name } = useMerchant();
  const remove = useDeparture("deleteMerchant");
  return (
    <Section
      title="Delete this merchant"
      about="It is closed for everybody: its keys stop working, and its team is shut out."
      actions={
        <ConfirmTyped
          action="Delete this merchant"
          word={name}
          isBusy={remove.isPending}
          consequence="Nobody can bring it back. Export what you need for your books before. Money in your wallets is yours and stays there."
          onConfirmed={(typed) => remove.mutate({ merchantId, body: { name: typed } })}
        />
      }
    />
  );
}
