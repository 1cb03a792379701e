import { Modal, Text } from "@mantine/core";
import { useSyncExternalStore } from "react";
import { stepUp } from "../api/step-up.ts";
import { FactorForm } from "../sign-in/factor-form.tsx";

/** Above the dialog whose button requested it; Mantine's own dialogs are at 200. */
const ABOVE_DIALOGS = 300;

/** Opens when a call needs a recent factor. Once it is given, the call continues automatically. */
export function StepUpDialog() {
  const isAsked = useSyncExternalStore(stepUp.subscribe, stepUp.isAsked);
  return (
    <Modal opened={isAsked} onClose={stepUp.cancel} title="Confirm that it is you" zIndex={ABOVE_DIALOGS}>
      <Text size="sm" c="dimmed" mb="md">
        This is a sensitive change. It continues once you have confirmed your identity, and you are not asked again for
        five minutes.
      </Text>
      {isAsked && <FactorForm purpose="StepUp" onGiven={stepUp.succeed} />}
    </Modal>
  );
}
