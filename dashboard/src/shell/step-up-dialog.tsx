import { Modal, Text } from "@mantine/core";
import { useSyncExternalStore } from "react";
import { stepUp } from "../api/step-up.ts";
import { FactorForm } from "../sign-in/factor-form.tsx";

/** Above other dialogs, because one of them may have caused the step-up. Mantine's dialogs have z-index 200. */
const ABOVE_DIALOGS = 300;

/** Opens when a call needs a recent factor. Once the user has given one, the call continues automatically. */
export function StepUpDialog() {
  const isAsked = useSyncExternalStore(stepUp.subscribe, stepUp.isAsked);
  return (
    <Modal opened={isAsked} onClose={stepUp.cancel} title="Confirm your identity" zIndex={ABOVE_DIALOGS}>
      <Text size="sm" c="dimmed" mb="md">
        This is a sensitive change. It continues once you confirm your identity. You will not be asked again for five
        minutes.
      </Text>
      {isAsked && <FactorForm purpose="StepUp" onGiven={stepUp.succeed} />}
    </Modal>
  );
}
