import { ConfirmTyped } from "../shell/confirm-typed.tsx";
import { useMerchant } from "../shell/merchants.ts";
import { Section } from "../shell/section.tsx";
import { useDeparture } from "../shell/use-departure.ts";
import { PARTS } from "./parts.ts";

export function DeleteSection() {
  const { id: merchantId, name } = useMerchant();
  const remove = useDeparture("deleteMerchant");
  return (
    <Section
      title={PARTS.delete.title}
      anchor="delete"
      about="Closes the merchant for everyone: its keys stop working, and its team loses access."
      actions={
        <ConfirmTyped
          action="Delete merchant"
          word={name}
          isBusy={remove.isPending}
          consequence="This cannot be undone. Export what you need for your books first. The money in your wallets is not affected."
          onConfirmed={(typed) => remove.mutate({ merchantId, body: { name: typed } })}
        />
      }
    />
  );
}
