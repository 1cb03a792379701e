import { Modal } from "@mantine/core";
import { showDone } from "../api/queries.ts";
import { useMerchant } from "../shell/merchants.ts";
import { AddWallet } from "./add-wallet.tsx";

interface Props {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

export function RegisterWallet({ isOpen, onClose }: Props) {
  const { id: merchantId } = useMerchant();
  const done = () => {
    showDone("Wallet added.");
    onClose();
  };
  return (
    <Modal opened={isOpen} onClose={onClose} title="Add a wallet" size="lg" closeOnClickOutside={false}>
      <AddWallet merchantId={merchantId} leave={{ name: "Cancel", onLeave: onClose }} onDone={done} offersNetworks />
    </Modal>
  );
}
